package apitest

import (
	"net"
	"slices"
	"sync"
	"time"
)

// line is the server's end of a connection. The faults that act on the request being answered
// decide how written bytes travel.
type line struct {
	net.Conn
	lines *lines

	mu       sync.Mutex
	request  *request     // guarded by mu; the last one, nil before the first
	faults   []*Injection // guarded by mu; of the request
	stream   *stream      // guarded by mu; of the request, if it is a watch
	queue    []packet     // guarded by mu; written, and on its way
	free     time.Time    // guarded by mu; when the next packet can be sent
	carrying bool         // guarded by mu; carry runs
	ending   bool         // guarded by mu; is closed when the queue is empty
	dead     bool         // guarded by mu; nothing arrives any more
	lostIn   *Injection   // guarded by mu; the client does not know that it is dead
	wake     chan struct{}
}

// packet is some bytes that arrive at a time.
type packet struct {
	data []byte
	due  time.Time
}

// segment is how many bytes arrive at once where it takes time to send them, about as
// many as a packet of a network has.
const segment = 1 << 10

// begin notes the request that is to be answered.
func (l *line) begin(r *request, met []*Injection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.request, l.faults, l.stream = r, slices.Clone(met), nil
}

// watching notes the stream of the request.
func (l *line) watching(st *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stream = st
}

// strike lets a fault act on the answer, if the fault is about it.
func (l *line) strike(in *Injection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.request
	if r == nil || !in.fault.matches(r) || in.fault.Open && l.stream == nil {
		return
	}
	l.faults = append(l.faults, in)
	l.rouse()
}

// spare ends what a fault does to the line.
func (l *line) spare(in *Injection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = slices.DeleteFunc(l.faults, func(other *Injection) bool { return other == in })
	if latency, bandwidth := l.shape(); latency == 0 && bandwidth == 0 {
		for i := range l.queue {
			l.queue[i].due = time.Time{}
		}
		l.free = time.Time{}
	}
	if l.lostIn == in {
		l.lostIn = nil
		l.kill()
	}
	l.rouse()
}

// rouse wakes the goroutines that wait for a change of the faults. mu is held.
func (l *line) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
	if l.stream != nil {
		l.stream.wake()
	}
}

// does reports whether one of the line's faults has an effect. mu is held.
func (l *line) does(effect func(*Fault) bool) bool {
	return slices.ContainsFunc(l.faults, func(in *Injection) bool { return effect(&in.fault) })
}

// holds reports whether the watch gets no events.
func (l *line) holds() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.does(func(f *Fault) bool { return f.Hold })
}

// lag returns the fault that has stopped the cache for longest, nil for none.
func (l *line) lag() *Injection {
	l.mu.Lock()
	defer l.mu.Unlock()
	var oldest *Injection
	for _, in := range l.faults {
		if in.fault.Lag && (oldest == nil || in.since < oldest.since) {
			oldest = in
		}
	}
	return oldest
}

func (l *line) frozen() bool { return l.does(func(f *Fault) bool { return f.Freeze && f.back() }) }

// shape returns how answers travel. mu is held.
func (l *line) shape() (latency time.Duration, bandwidth int) {
	for _, in := range l.faults {
		f := &in.fault
		if !f.back() {
			continue
		}
		latency += max(0, f.Latency)
		if f.Bandwidth > 0 && (bandwidth == 0 || f.Bandwidth < bandwidth) {
			bandwidth = f.Bandwidth
		}
	}
	return latency, bandwidth
}

// Write implements net.Conn. It does not wait for bytes on their way.
func (l *line) Write(p []byte) (int, error) {
	l.mu.Lock()
	if l.dead {
		defer l.mu.Unlock()
		if l.lostIn != nil {
			return len(p), nil
		}
		return 0, net.ErrClosed
	}
	latency, bandwidth := l.shape()
	if !l.carrying && latency == 0 && bandwidth == 0 && !l.frozen() {
		l.mu.Unlock()
		return l.Conn.Write(p)
	}
	defer l.mu.Unlock()
	now := time.Now()
	if l.free.Before(now) {
		l.free = now
	}
	for rest := slices.Clone(p); len(rest) > 0; {
		size := len(rest)
		if bandwidth > 0 {
			size = min(size, segment)
			l.free = l.free.Add(time.Duration(size) * time.Second / time.Duration(bandwidth))
		}
		l.queue = append(l.queue, packet{rest[:size], l.free.Add(latency)})
		rest = rest[size:]
	}
	if !l.carrying {
		l.carrying = true
		l.lines.carriers.Go(l.carry)
	}
	return len(p), nil
}

// carry lets queued bytes arrive, until there are no more.
func (l *line) carry() {
	for {
		next, wait, more := l.next()
		switch {
		case !more:
			return
		case next != nil:
			if _, err := l.Conn.Write(next); err != nil {
				l.reset()
			}
		case wait > 0:
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-l.wake:
				timer.Stop()
			}
		default:
			<-l.wake
		}
	}
}

// next returns the bytes that arrive now, or how long to wait, 0 for until something changes.
// When no bytes are on their way, it returns false, and ends the line if it is to end.
func (l *line) next() (data []byte, wait time.Duration, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 || l.dead {
		l.carrying, l.queue = false, nil
		if l.ending {
			l.lines.remove(l)
			_ = l.Conn.Close()
		}
		return nil, 0, false
	}
	if l.frozen() {
		return nil, 0, true
	}
	if wait := time.Until(l.queue[0].due); wait > 0 {
		return nil, wait, true
	}
	data = l.queue[0].data
	l.queue = l.queue[1:]
	return data, 0, true
}

// Close implements net.Conn. Bytes on their way still arrive.
func (l *line) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.dead && l.carrying || l.lostIn != nil {
		l.ending = true
		// The server reads no more.
		return l.Conn.SetReadDeadline(time.Unix(1, 0))
	}
	l.lines.remove(l)
	return l.Conn.Close()
}

// vanish makes the server's end of the connection disappear.
func (l *line) vanish(in *Injection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return
	}
	select {
	case <-in.lifted:
		l.kill()
		return
	default:
	}
	l.dead, l.lostIn = true, in
	l.rouse()
}

// reset resets the connection.
func (l *line) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kill()
}

// kill resets the connection. mu is held.
func (l *line) kill() {
	l.dead, l.lostIn = true, nil
	l.lines.remove(l)
	l.rouse()
	switch conn := l.Conn.(type) {
	case interface{ Reset() error }:
		_ = conn.Reset()
	case *net.TCPConn:
		_ = conn.SetLinger(0)
		_ = conn.Close()
	}
}

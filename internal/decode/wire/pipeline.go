package wire

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/internal/goroutine"
)

// The sizes of frames in progress.
const (
	// runSize is how many bytes of frames a decoder takes at a time, unless
	// there are others with nothing to do.
	runSize = 32 << 10
	// worthSharing is the number of bytes behind a frame at which Run starts a decoder. It decodes
	// fewer before a thread wakes and a new stack grows.
	worthSharing = 8 << 10
	// BytesUnderWay is how many bytes of frames for each decoder have been read
	// and their results not been taken.
	BytesUnderWay = 256 << 10
)

// ErrStopped is what Run returns when emit has returned false.
var ErrStopped = errors.New("stopped")

// Pipeline decodes frames on several goroutines, and passes the results on in
// the order of the frames.
//
//   - The goroutine that calls Run reads. It decodes a frame itself if less than 8 KiB has
//     arrived behind it, as in a watch of 300 events a second. Otherwise a decoder is started
//     when there is work and fewer than the limit are busy; it ends when there is no more.
//   - A decoder takes as many frames as have piled up, up to its share. So the
//     cost of handing over is small where it matters.
//   - The decoder that has finished the oldest frames emits their results and
//     those that others have finished meanwhile.
//   - Reading pauses while there are 256 KiB of frames for each decoder whose
//     results have not been taken.
type Pipeline struct {
	newResults func(n int) results
	alone      results // of the goroutine of Run
	abort      func()
	limit      int
	decoders   sync.WaitGroup

	mu       sync.Mutex
	room     sync.Cond
	waiting  []frame // guarded by mu; read, and not taken by a decoder
	taken    []*run  // guarded by mu; in order, and not emitted
	busy     int     // guarded by mu; decoders at work
	emitting bool    // guarded by mu; one of them emits
	underWay int     // guarded by mu; bytes of waiting and taken
	err      error   // guarded by mu; why it ends
	ended    atomic.Bool
}

// frame is a copy of a frame.
type frame struct {
	number int
	offset int64
	data   []byte
	chunk  *chunk
}

// run is a number of frames in a row, which one decoder decodes.
type run struct {
	frames  []frame
	results results
	bytes   int
	err     error // of the frame after the results
	done    bool  // guarded by Pipeline.mu
}

// results are those of frames in a row. They alone know what a result is: so the rest of the
// pipeline is compiled once, and not for each type of objects.
type results interface {
	// add decodes a frame.
	add(frame []byte) error
	// pass emits the results, the oldest first, and drops them. It returns false as soon as
	// emit does.
	pass() (more bool)
}

type resultsOf[R any] struct {
	list   []R
	decode func(frame []byte) (R, error)
	emit   func(R) bool
}

func (r *resultsOf[R]) add(frame []byte) error {
	result, err := r.decode(frame)
	if err == nil {
		r.list = append(r.list, result)
	}
	return err
}

func (r *resultsOf[R]) pass() (more bool) {
	list := r.list
	r.list = list[:0]
	for _, result := range list {
		if !r.emit(result) {
			return false
		}
	}
	clear(list)
	return true
}

// NewPipeline returns a pipeline with up to limit decoders; with 1 there are none, and Run
// decodes itself. decode is called by several goroutines at once, and must not keep the frame.
// emit is called for one result after the other, in the order of the frames, and returns false
// to end everything. abort is called when everything ends before the frames do while
// Frames.Next may be in progress, and has to end that call.
func NewPipeline[R any](limit int, decode func(frame []byte) (R, error), emit func(R) bool, abort func()) *Pipeline {
	newResults := func(n int) results {
		return &resultsOf[R]{list: make([]R, 0, n), decode: decode, emit: emit}
	}
	p := &Pipeline{newResults: newResults, alone: newResults(1), abort: abort, limit: limit}
	p.room.L = &p.mu
	return p
}

// Run decodes frames until there are no more, and returns nil then. It returns
// ErrStopped if emit has returned false, and a *FrameError for the first frame
// that cannot be read or decoded, after the results of all frames before it have
// been emitted. A function that panics is reported by utilruntime.HandleCrash, and ends
// everything with an error. None of its goroutines is left when it returns. It is called
// once.
func (p *Pipeline) Run(frames Frames) error {
	err := p.contain(func() error { return p.read(frames) })
	p.decoders.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	return err
}

// one decodes a frame on the goroutine of Run, while no decoder is busy.
func (p *Pipeline) one(number int, frames Frames, data []byte) error {
	if err := p.alone.add(data); err != nil {
		return &FrameError{Frame: number, Offset: frames.Offset(), Err: undecoded(err)}
	}
	if !p.alone.pass() {
		return ErrStopped
	}
	return nil
}

// idle reports whether all results have been emitted and no decoder is busy.
func (p *Pipeline) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.busy == 0 && len(p.waiting) == 0 && p.err == nil
}

// read reads frames, and passes them to decoders if there may be any.
func (p *Pipeline) read(frames Frames) error {
	var into, last *chunk // into is claimed; last was, and is claimed again if it is in use
	defer func() { into.release() }()
	for number := 1; !p.ended.Load(); number++ {
		if into != nil && frames.Buffered() == 0 {
			into.release()
			last, into = into, nil
		}
		data, err := frames.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &FrameError{Frame: number, Offset: frames.Offset(), Err: err}
		}
		if p.limit <= 1 || frames.Buffered() < worthSharing && p.idle() {
			if err := p.one(number, frames, data); err != nil {
				return err
			}
			continue
		}
		if into == nil && last.claim() {
			into = last
		}
		if into == nil || len(into.data) > 0 && len(into.data)+len(data) > cap(into.data) {
			into.release()
			into = newChunk()
		}
		start := len(into.data)
		into.data = append(into.data, data...)
		into.used.Add(1)
		p.put(frame{number, frames.Offset(), into.data[start:len(into.data):len(into.data)], into})
	}
	return nil
}

// put hands a frame over, when there is room.
func (p *Pipeline) put(f frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.underWay > 0 && p.underWay+len(f.data) > p.limit*BytesUnderWay && p.err == nil {
		p.room.Wait()
	}
	p.waiting = append(p.waiting, f)
	p.underWay += len(f.data)
	if p.busy < p.limit && p.busy < len(p.waiting) {
		p.busy++
		p.decoders.Go(func() {
			if err := p.contain(p.work); err != nil {
				p.fail(err)
			}
		})
	}
}

// contain returns what call returns, or what a function that it calls has panicked with.
func (*Pipeline) contain(call func() error) error {
	return goroutine.Contain(context.Background(), "what decodes a response", call)
}

// fail ends everything with an error, as a decoder that has panicked is gone.
func (p *Pipeline) fail(err error) {
	p.mu.Lock()
	p.busy--
	p.emitting = false
	if p.err == nil {
		p.err = err
	}
	p.ended.Store(true)
	p.mu.Unlock()
	p.room.Signal()
	p.abort()
}

// work decodes what there is to decode.
func (p *Pipeline) work() error {
	for {
		r := p.take()
		if r == nil {
			return nil
		}
		p.decodeRun(r)
		p.mu.Lock()
		r.done = true
		mine := !p.emitting && p.taken[0].done
		if mine {
			p.emitting = true
		}
		p.mu.Unlock()
		if mine {
			p.emitDone()
		}
	}
}

// take takes frames that wait, nil if there are none; then the decoder is not
// busy any more.
func (p *Pipeline) take() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 || p.err != nil {
		p.busy--
		return nil
	}
	share := (len(p.waiting) + p.limit - 1) / p.limit
	r := &run{}
	for n := 0; n < share && (n == 0 || r.bytes < runSize); n++ {
		r.bytes += len(p.waiting[n].data)
		r.frames = p.waiting[: n+1 : n+1]
	}
	p.waiting = p.waiting[len(r.frames):]
	p.taken = append(p.taken, r)
	return r
}

func (p *Pipeline) decodeRun(r *run) {
	r.results = p.newResults(len(r.frames))
	for i := range r.frames {
		f := &r.frames[i]
		if r.err == nil && !p.ended.Load() {
			if err := r.results.add(f.data); err != nil {
				r.err = &FrameError{Frame: f.number, Offset: f.offset, Err: undecoded(err)}
			}
		}
		f.chunk.release()
		*f = frame{}
	}
}

// emitDone emits the results of the oldest runs, as long as those are done.
func (p *Pipeline) emitDone() {
	for {
		p.mu.Lock()
		if len(p.taken) == 0 || !p.taken[0].done || p.err != nil {
			p.emitting = false
			p.mu.Unlock()
			return
		}
		r := p.taken[0]
		p.taken[0] = nil
		p.taken = p.taken[1:]
		p.mu.Unlock()

		err := r.err
		if !r.results.pass() {
			err = ErrStopped
		}
		p.mu.Lock()
		p.underWay -= r.bytes
		if err != nil {
			p.err = err
			p.ended.Store(true)
		}
		p.mu.Unlock()
		p.room.Signal()
		if err != nil {
			p.abort()
		}
	}
}

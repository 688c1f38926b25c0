package proxy

import (
	"io"
	"time"
)

// body is the body of an answer with faults in it.
type body struct {
	io.Closer // the API server's body
	x         *exchange
	events    bool                   // it is a watch
	next      func() ([]byte, error) // one whole event, or some bytes; the body's until the next call

	pending []byte // still to be read of the event or the bytes
	passed  int    // events, or bytes without events
	torn    bool   // pending is the last there is

	began time.Time // the first byte was read
	read  int       // bytes
}

// Read implements io.Reader: io.EOF where the answer ends well, errCut where it
// breaks off.
func (b *body) Read(p []byte) (int, error) {
	for len(b.pending) == 0 {
		if err := b.fill(); err != nil {
			return 0, err
		}
	}
	if len(p) > 0 {
		p = b.pace(p)
	}
	n := copy(p, b.pending)
	b.pending = b.pending[n:]
	b.read += n
	return n, nil
}

// fill gets the next event, or the next bytes, unless the answer ends here.
func (b *body) fill() error {
	if b.torn {
		return errCut
	}
	end, after := b.x.end, b.x.after
	due := end != Whole && b.passed >= after
	if due && (end != Torn || !b.events) {
		return over(b.cut(end))
	}
	unit, err := b.next()
	if b.events && err == nil {
		b.x.hold(true)
	}
	manner := b.x.cutHow()
	if due && err == nil {
		manner = b.cut(Torn)
	}
	switch {
	case manner == Clean || manner == Abrupt:
		return over(manner)
	case err != nil:
		return err
	case manner == Torn:
		b.torn = true
		unit = unit[:len(unit)/2]
	case b.events:
		b.passed++
	default:
		if end != Whole {
			unit = unit[:min(len(unit), after-b.passed)]
		}
		b.passed += len(unit)
	}
	b.pending = unit
	return nil
}

// cut ends the answer, and returns how. It returns the Ending of CutWatches if that has cut the
// watch already.
func (b *body) cut(how Ending) Ending {
	p := b.x.proxy
	p.log.Printf("%s: cut, %s", b.x, how)
	if !b.events {
		p.count(cuts, b.x.request, 0)
		return how
	}
	p.change(func() { p.cut(b.x, how) })
	return b.x.cutHow()
}

// over returns the error for the reader of a body that ends so.
func over(how Ending) error {
	if how == Clean {
		return io.EOF
	}
	return errCut
}

// piecesPerSecond is how smoothly a slow answer comes.
const piecesPerSecond = 20

// pace waits until the next bytes of a slow answer are due, and returns the part
// of p for them.
func (b *body) pace(p []byte) []byte {
	rate := b.x.bytesPerSecond
	if rate <= 0 {
		return p
	}
	if b.began.IsZero() {
		b.began = time.Now()
	}
	due := b.began.Add(time.Duration(float64(b.read) / float64(rate) * float64(time.Second)))
	b.x.sleep(time.Until(due))
	return p[:min(len(p), max(1, rate/piecesPerSecond))]
}

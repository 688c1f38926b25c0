package jsontree

import (
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/internal/decode/parts"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// Decoder decodes JSON objects. It may be used by several goroutines at once.
type Decoder struct {
	table  *parts.Table // nil: no parts are shared
	mask   *plan.Mask   // nil: all fields are decoded
	lucks  [luckCount]parts.Luck
	passes sync.Pool // of *pass

	decoded atomic.Uint64 // how many objects were
}

// New returns a decoder of the fields of mask. The others are checked, and not kept. If
// it shares, the objects that it decodes have parts in common.
func New(shares bool, mask *plan.Mask) *Decoder {
	d := &Decoder{mask: mask}
	if shares {
		d.table = parts.NewTable()
	}
	d.passes.New = func() any { return &pass{decoder: d} }
	return d
}

// Decode decodes an object. It returns false where apimachinery's decoder has to decide
// what comes out, or whether there is an error.
//
// If the decoder shares, what is in the object may be part of others, and of like, an
// object that it probably has parts in common with, or nil. None of it may be modified,
// ever; only the map that Decode returns is always new. It does not refer to text.
func (d *Decoder) Decode(text []byte, like map[string]any) (map[string]any, bool) {
	p := d.passes.Get().(*pass)
	if d.table == nil {
		like = nil
	}
	p.text, p.pos, p.looked, p.trial = text, 0, 0, parts.IsTrial(d.decoded.Add(1))
	made, ok := p.root(like)
	if p.reset() {
		d.passes.Put(p)
	}
	return made, ok
}

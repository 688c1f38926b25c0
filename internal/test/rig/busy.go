package rig

import (
	"context"
	"strconv"

	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// Busy is a source that reports on one thing, in its namespace, all the time.
type Busy string

// Run implements source.Source.
func (b Busy) Run(ctx context.Context, sink source.Sink[*Thing]) error {
	thing := func(version int) *Thing {
		o := At("a", version)
		o.Namespace = string(b)
		return o
	}
	sinktest.Replace(sink, "", []*Thing{thing(1)}, "1")
	for i := 2; ctx.Err() == nil; i++ {
		sinktest.Put(sink, thing(i), strconv.Itoa(i))
	}
	return nil
}

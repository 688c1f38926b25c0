package control_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

// BenchmarkAwaited measures an informer that takes in updates, while it has not
// come to the versions that so many keys expect of it, and to the deletions.
func BenchmarkAwaited(b *testing.B) {
	for _, keys := range []int{0, 1, 10_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			s := rig.NewScript()
			informer := typed.NewInformer(s)
			ctx, stop := context.WithCancel(context.Background())
			ended := make(chan error)
			go func() { ended <- informer.Run(ctx) }()
			sink := <-s.Started
			things := make([]*rig.Thing, 10_000)
			for i := range things {
				things[i] = rig.At(strconv.Itoa(i), 1)
			}
			sinktest.Replace(sink, "", append([]*rig.Thing(nil), things...), "1")
			require.NoError(b, informer.WaitForSync(ctx))
			e, err := control.NewExpectations(control.AdderFunc[string](func(string) {}), control.WithExpectationTimeout(time.Hour))
			require.NoError(b, err)
			for k := range keys {
				require.NoError(b, e.Expect(strconv.Itoa(k), informer, strconv.Itoa(1_000_000_000+k)))
				require.NoError(b, e.ExpectDeleted(strconv.Itoa(k), informer, things[k]))
			}
			version := 1
			b.ReportAllocs()
			for b.Loop() {
				version++
				sinktest.Put(sink, things[version%len(things)], strconv.Itoa(version))
				if version%100 == 0 {
					require.NoError(b, informer.WaitForResourceVersion(ctx, strconv.Itoa(version)))
				}
			}
			stop()
			require.NoError(b, <-ended)
		})
	}
}

// BenchmarkWrite measures what expecting a write, and seeing it, costs a
// controller, and what the key that is handed out in between does.
func BenchmarkWrite(b *testing.B) {
	s := rig.NewScript()
	informer := typed.NewInformer(s)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- informer.Run(ctx) }()
	sink := <-s.Started
	sinktest.Replace(sink, "", nil, "1")
	require.NoError(b, informer.WaitForSync(ctx))
	added := make(chan struct{}, 1)
	e, err := control.NewExpectations(control.AdderFunc[index.Key](func(index.Key) { added <- struct{}{} }))
	require.NoError(b, err)
	process := e.Wrap(func(context.Context, index.Key) error { return nil })
	version, k := 1, rig.Key("a")
	b.ReportAllocs()
	for b.Loop() {
		version++
		written := strconv.Itoa(version)
		require.NoError(b, e.Expect(k, informer, written))
		require.NoError(b, process(ctx, k))
		sinktest.Bookmark(sink, written)
		<-added
		require.NoError(b, process(ctx, k))
	}
	stop()
	require.NoError(b, <-ended)
}

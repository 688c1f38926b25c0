package typed_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// TestResyncOnDemandWhileObjectsComeAndGo: other goroutines request resyncs of handlers while these
// receive changes. The events never have a gap, and lead to the store's contents.
func TestResyncOnDemandWhileObjectsComeAndGo(t *testing.T) {
	for _, delivery := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce()} {
		t.Run(delivery.String(), func(t *testing.T) {
			r := rig.New(t)
			known := map[string]*rig.Thing{}
			wrong := 0
			reg, err := r.Handle(typed.HandlerFuncs[*rig.Thing]{
				AddFunc: func(o *rig.Thing, _ bool) {
					if known[o.Name] != nil {
						wrong++
					}
					known[o.Name] = o
				},
				UpdateFunc: func(old, o *rig.Thing) {
					if known[o.Name] != old {
						wrong++
					}
					known[o.Name] = o
				},
				DeleteFunc: func(d typed.Deleted[*rig.Thing]) {
					if known[d.Key.Name] != d.Old {
						wrong++
					}
					delete(known, d.Key.Name)
				},
			}, typed.WithDelivery(delivery))
			require.NoError(t, err)
			r.Start()
			const objects, rounds = 100, 60
			version := 0
			sinktest.Replace(r.Sink, "", nil, "0")
			done := make(chan struct{})
			var resyncing sync.WaitGroup
			for range 3 { // one of them is often interrupted at the worst moment
				resyncing.Go(func() {
					for {
						select {
						case <-done:
							return
						default:
							reg.Resync()
						}
					}
				})
			}
			for range rounds {
				for _, change := range []func(source.Sink[*rig.Thing], *rig.Thing, string){sinktest.Put[*rig.Thing], sinktest.Put[*rig.Thing], sinktest.Delete[*rig.Thing]} {
					for i := range objects {
						version++
						change(r.Sink, rig.At(fmt.Sprint("n", i), version), fmt.Sprint(version))
					}
					require.NoError(t, r.WaitForResourceVersion(t.Context(), fmt.Sprint(version)))
				}
			}
			close(done)
			resyncing.Wait()
			caughtUp := make(chan struct{})
			reg.After(func() { close(caughtUp) })
			<-caughtUp
			assert.Zero(t, wrong, "calls that do not follow what the handler knows")
			assert.Empty(t, known, "nothing is left")
		})
	}
}

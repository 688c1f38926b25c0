package typed_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/typed"
)

// TestResyncOnDemandWhileObjectsComeAndGo has handlers resynced, by another
// goroutine, while they are told of changes: what they know never has a gap, and is
// what the store has in the end.
func TestResyncOnDemandWhileObjectsComeAndGo(t *testing.T) {
	for _, delivery := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce()} {
		t.Run(delivery.String(), func(t *testing.T) {
			r := newRig(t)
			known := map[string]*thing{}
			wrong := 0
			reg, err := r.Handle(typed.HandlerFuncs[*thing]{
				AddFunc: func(o *thing, _ bool) {
					if known[o.name] != nil {
						wrong++
					}
					known[o.name] = o
				},
				UpdateFunc: func(old, o *thing) {
					if known[o.name] != old {
						wrong++
					}
					known[o.name] = o
				},
				DeleteFunc: func(d typed.Deleted[*thing]) {
					if known[d.Key.Name] != d.Old {
						wrong++
					}
					delete(known, d.Key.Name)
				},
			}, typed.WithDelivery(delivery))
			require.NoError(t, err)
			r.run()
			const objects, rounds = 100, 60
			version := 0
			r.sink.Replace(nil, "0")
			done := make(chan struct{})
			var resyncing sync.WaitGroup
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
			for range rounds {
				for _, change := range []func(*thing, string){r.sink.Add, r.sink.Update, r.sink.Delete} {
					for i := range objects {
						version++
						change(at(fmt.Sprint("n", i), version), fmt.Sprint(version))
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

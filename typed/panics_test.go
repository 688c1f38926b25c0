package typed_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
)

// TestPanicOfAnIndexFunction goes on, where that is allowed, without the object
// that an index function panics for.
func TestPanicOfAnIndexFunction(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash = false
	reported := 0
	utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { reported++ }}

	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		rec := r.handle()
		hold := make(chan struct{})
		require.NoError(t, r.AddIndexes(index.Single("picky", func(o *thing) (string, bool) {
			<-hold // so that what follows makes one batch
			if o.name == "poison" {
				panic("poisoned")
			}
			return o.name, true
		})))
		r.run()
		r.sink.Replace([]*thing{at("a", 1), at("poison", 1)}, "1")
		close(hold)
		assert.Empty(t, rec.next())
		assert.ErrorContains(t, r.Status().Err, "an index function, or a method of an object, has panicked")
		assert.Equal(t, 1, reported)

		r.sink.Replace([]*thing{at("a", 2)}, "2")
		rec.next()
		hold = make(chan struct{})
		r.sink.Update(at("a", 3), "3")
		synctest.Wait() // it is being applied
		r.sink.Add(at("poison", 4), "4")
		r.sink.Add(at("b", 5), "5")
		close(hold)
		assert.Equal(t, []string{"update a@2 a@3", "add b@5"}, rec.next(), "the others are not lost")
		assert.Equal(t, 2, r.Len())
		assert.Equal(t, "5", r.ResourceVersion())
		assert.NoError(t, r.Status().Err)
	})
}

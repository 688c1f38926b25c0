package source_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// startSpaces starts an informer of namespaces with WithOnError, and returns what f,
// which also gets the informer, was called with.
func startSpaces(t *testing.T, f func(*typed.Informer[*rig.Thing]), names ...string) (r *spacesRig, called func() []string) {
	s := &scripts{started: map[string]*rig.Script{}}
	r = &spacesRig{scripts: s, set: source.NewNamespaces(names...)}
	var mu sync.Mutex
	var errs []string
	r.Rig = rig.Over(t, nil, source.FromNamespaces(r.set, s.source), typed.WithOnError(func(err error) error {
		mu.Lock()
		errs = append(errs, err.Error())
		mu.Unlock()
		f(r.Informer)
		return nil
	}))
	r.Start()
	synctest.Wait()
	return r, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), errs...)
	}
}

// TestErrorsOfNamespacesAreReportedWithoutALock: a function that is called with an error may ask
// the informer, and wait for other namespaces. Errors that come meanwhile are reported afterwards,
// in their order.
func TestErrorsOfNamespacesAreReportedWithoutALock(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r, called := startSpaces(t, func(things *typed.Informer[*rig.Thing]) {
			things.Status()
			assert.NoError(t, things.WaitForSync(t.Context()))
		}, "x", "y")
		x, y := r.sinkOf("x"), r.sinkOf("y")
		sinktest.Replace(x, "", []*rig.Thing{in("x", rig.At("a", 1))}, "1")
		go x.Report(errors.New("x fails"))
		synctest.Wait()
		require.Equal(t, []string{"namespace x: x fails"}, called())

		y.Report(errors.New("y fails"))
		y.Progress(1, 2)
		assert.Equal(t, 1, r.Status().Received, "y goes on")
		assert.Len(t, called(), 1, "one after the other")
		sinktest.Replace(y, "", []*rig.Thing{in("y", rig.At("b", 2))}, "2")
		synctest.Wait()
		assert.Equal(t, []string{"namespace x: x fails", "namespace x: x fails\nnamespace y: y fails"}, called()[:2])
		require.ErrorContains(t, r.Status().Err, "x fails")
		x.Report(nil)
		assert.NoError(t, r.Status().Err)
		assert.Equal(t, 2, r.Len())
	})
}

// TestLeftErrorsAreReportedWithoutALock, when a namespace that fails is removed, and
// when a watch has failed before the first list was complete.
func TestLeftErrorsAreReportedWithoutALock(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		var wait bool
		r, called := startSpaces(t, func(things *typed.Informer[*rig.Thing]) {
			if wait {
				assert.NoError(t, things.WaitForSync(t.Context()))
			}
		}, "x", "y")
		x, y := r.sinkOf("x"), r.sinkOf("y")
		x.Report(errors.New("x fails"))
		y.Report(errors.New("y fails"))
		require.Len(t, called(), 2)
		wait = true
		r.set.Remove("x")
		synctest.Wait() // the goroutine of Run is in the function
		assert.Equal(t, "namespace y: y fails", called()[2])
		sinktest.Replace(y, "", []*rig.Thing{in("y", rig.At("b", 2))}, "2")
		synctest.Wait()
		assert.NoError(t, r.Status().Err)

		require.NoError(t, r.set.Add("z"))
		sinktest.Replace(r.sinkOf("z"), "", nil, "3")
		y.Report(errors.New("again"))
		assert.Equal(t, "namespace y: again", called()[3])
	})
}

// TestRejectedByAWatch: an object that is rejected while other namespaces are listed is reported
// after the sync as well, and none that is rejected after its namespace was removed.
func TestRejectedByAWatch(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t, "x", "y")
		x, y := r.sinkOf("x"), r.sinkOf("y")
		sinktest.Replace(x, "", []*rig.Thing{in("x", rig.At("a", 1))}, "5")
		key := index.Key{Namespace: "x", Name: "a"}
		rejected := &source.RejectedError{Key: key, ResourceVersion: "6", Err: errors.New("broken")}
		go x.Report(rejected) // it waits for the sync, as changes do
		synctest.Wait()
		sinktest.Replace(y, "", nil, "6")
		assert.Equal(t, []string{"initial a@1"}, r.rec.Next())
		require.NotNil(t, r.Rejected(key), "a@1 is not its last state")
		assert.ErrorContains(t, r.Rejected(key), "broken")

		r.set.Remove("x")
		assert.Equal(t, []string{"delete a@1 OutOfScope"}, r.rec.Next())
		x.Report(rejected)
		assert.Nil(t, r.Rejected(key))
	})
}

// TestRejectedByALateList: an object of a list that ends with its namespace, or comes after that, is not
// reported as rejected.
func TestRejectedByALateList(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s := &scripts{started: map[string]*rig.Script{}}
		r := &spacesRig{scripts: s, set: source.NewNamespaces("x", "y")}
		proceed := make(chan struct{})
		r.Rig = rig.Over(t, nil, source.FromNamespaces(r.set, s.source), typed.WithTransform(func(o *rig.Thing) (*rig.Thing, error) {
			<-proceed
			return nil, errors.New("broken")
		}))
		r.Start()
		x, y := r.sinkOf("x"), r.sinkOf("y")
		sinktest.Replace(x, "", nil, "5")
		sinktest.Replace(y, "", nil, "5")
		require.NoError(t, r.WaitForSync(t.Context()))
		late := in("x", rig.At("a", 6))
		go x.Stage(late, "6")
		go y.Stage(in("y", rig.At("a", 6)), "6")
		synctest.Wait()
		r.set.Remove("x")
		synctest.Wait()
		close(proceed)
		synctest.Wait()
		assert.Nil(t, r.Rejected(index.KeyOf(late)), "nothing would take that back")
		x.Stage(late, "7")
		x.Stage(in("y", rig.At("b", 7)), "7")
		assert.Equal(t, 1, r.Status().RejectedNow, "of y, which stays")
	})
}

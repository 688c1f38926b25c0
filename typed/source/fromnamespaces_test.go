package source_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// scripts are sources of namespaces whose reports the test makes itself.
type scripts struct {
	mu      sync.Mutex
	started map[string]*rig.Script // guarded by mu; the last of each namespace
}

func (s *scripts) source(namespace string) source.Source[*rig.Thing] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started[namespace] = rig.NewScript()
	return s.started[namespace]
}

// sinkOf returns the sink of a namespace, once. It waits until it is there.
func (s *scripts) sinkOf(namespace string) source.Sink[*rig.Thing] {
	synctest.Wait()
	return <-s.script(namespace).Started
}

func (s *scripts) script(namespace string) *rig.Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started[namespace]
}

// spacesRig is an informer over a set of namespaces.
type spacesRig struct {
	*rig.Rig
	*scripts
	set *source.Namespaces
	of  source.Source[*rig.Thing]
	rec *rig.Recorder
}

// newSpacesRig starts the informer.
func newSpacesRig(t *testing.T, names ...string) *spacesRig {
	s := &scripts{started: map[string]*rig.Script{}}
	set := source.NewNamespaces(names...)
	of := source.FromNamespaces(set, s.source)
	r := &spacesRig{scripts: s, set: set, of: of, Rig: rig.Over(t, nil, of)}
	r.rec = r.Record()
	r.Start()
	synctest.Wait()
	return r
}

// in returns the thing in a namespace.
func in(namespace string, o *rig.Thing) *rig.Thing {
	c := *o
	c.Namespace = namespace
	return &c
}

func TestNamespaces(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t, "x", "y")
		x, y := r.sinkOf("x"), r.sinkOf("y")
		sinktest.Replace(x, "", []*rig.Thing{in("x", rig.At("a", 1)), in("x", rig.At("b", 2))}, "5")
		assert.Empty(t, r.rec.Next(), "y is missing")
		assert.Equal(t, report.PhaseSyncing, r.Status().Phase)
		sinktest.Replace(y, "", []*rig.Thing{in("y", rig.At("c", 3))}, "6")
		assert.ElementsMatch(t, []string{"initial a@1", "initial b@2", "initial c@3"}, r.rec.Next())
		assert.NoError(t, r.WaitForSync(t.Context()))

		sinktest.Put(x, in("x", rig.At("a", 7)), "7")
		sinktest.Delete(y, in("y", rig.At("c", 8)), "8")
		sinktest.Replace(x, "", []*rig.Thing{in("x", rig.At("b", 9))}, "9")
		assert.Equal(t, []string{"update a@1 a@7", "delete c@8 Watched", "delete a@7 Relisted", "update b@2 b@9"}, r.rec.Next())

		require.NoError(t, r.set.Add("z", "x"))
		z := r.sinkOf("z")
		assert.Empty(t, r.rec.Next())
		sinktest.Replace(z, "", []*rig.Thing{in("z", rig.At("d", 10))}, "10")
		sinktest.Remove(z, rig.Key("d"), index.OutOfScope, "10") // of another namespace
		assert.Equal(t, []string{"add d@10"}, r.rec.Next())

		before := r.Snapshot()
		r.set.Remove("x", "unknown")
		assert.Equal(t, []string{"delete b@9 OutOfScope"}, r.rec.Next())
		sinktest.Put(x, in("x", rig.At("b", 11)), "11")
		assert.Empty(t, r.rec.Next(), "what comes late is dropped")
		assert.Equal(t, 2, before.Len())
		assert.Empty(t, r.ListNamespace("x"))
		assert.Equal(t, []string{"y", "z"}, r.set.All())

		require.NoError(t, r.set.Set("x", "z"))
		sinktest.Replace(r.sinkOf("x"), "", []*rig.Thing{in("x", rig.At("b", 12))}, "12")
		assert.Equal(t, []string{"add b@12"}, r.rec.Next(), "it is listed again")
		sinktest.RemoveNamespace(z, "z", "12")
		assert.Equal(t, []string{"delete d@10 OutOfScope"}, r.rec.Next())
	})
}

func TestNamespacesWithoutAnySyncAtOnce(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t)
		assert.NoError(t, r.WaitForSync(t.Context()))
		assert.Zero(t, r.Len())
		require.NoError(t, r.set.Add("x"))
		sinktest.Replace(r.sinkOf("x"), "", []*rig.Thing{in("x", rig.At("a", 1))}, "1")
		assert.Equal(t, []string{"add a@1"}, r.rec.Next())
		assert.Equal(t, "1", r.ResourceVersion())
	})
}

// TestChangesWaitForTheOtherNamespaces checks that nothing piles up while a
// namespace cannot be listed.
func TestChangesWaitForTheOtherNamespaces(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t, "x", "y")
		x := r.sinkOf("x")
		sinktest.Replace(x, "", []*rig.Thing{in("x", rig.At("a", 1))}, "1")
		sinktest.Replace(x, "", []*rig.Thing{in("x", rig.At("a", 2)), in("x", rig.At("b", 2))}, "2") // it has listed again
		updated := make(chan struct{})
		go func() {
			defer close(updated)
			sinktest.Put(x, in("x", rig.At("a", 3)), "3")
			sinktest.Bookmark(x, "4")
		}()
		synctest.Wait()
		assert.False(t, rig.IsClosed(updated))
		sinktest.Replace(r.sinkOf("y"), "", nil, "9")
		assert.ElementsMatch(t, []string{"initial a@2", "initial b@2", "update a@2 a@3"}, r.rec.Next())
		assert.True(t, rig.IsClosed(updated))
		assert.Equal(t, "4", r.ResourceVersion())
	})
	t.Run("until the informer stops", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := newSpacesRig(t, "x", "y")
			x := r.sinkOf("x")
			go sinktest.Bookmark(x, "1")
			synctest.Wait()
			r.Stop()
			synctest.Wait()
			sinktest.Replace(x, "", nil, "1")
			x.Progress(1, 2)
			x.Report(assert.AnError)
			assert.NoError(t, r.Status().LastErr)
		})
	})
}

func TestNamespaceForbidden(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t, "x", "y", "z")
		x, y, z := r.sinkOf("x"), r.sinkOf("y"), r.sinkOf("z")
		sinktest.Replace(x, "", []*rig.Thing{in("x", rig.At("a", 1))}, "1")
		forbidden := errors.New("forbidden")
		z.Report(errors.New("away"))
		y.Report(forbidden)
		x.Report(nil)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		err := r.WaitForSync(ended)
		assert.ErrorContains(t, err, "namespace y: forbidden\nnamespace z: away")
		assert.ErrorIs(t, err, forbidden)
		var in1 *source.NamespaceError
		require.ErrorAs(t, err, &in1)
		assert.Equal(t, "y", in1.Namespace)

		r.set.Remove("z")
		synctest.Wait()
		assert.ErrorContains(t, r.Status().Err, "namespace y: forbidden")
		assert.NotContains(t, r.Status().Err.Error(), "away")
		r.set.Remove("y")
		assert.Equal(t, []string{"initial a@1"}, r.rec.Next(), "nothing is in the way any more")
		assert.NoError(t, r.Status().Err)

		require.NoError(t, r.set.Add("y"))
		y = r.sinkOf("y")
		y.Report(forbidden)
		sinktest.Put(x, in("x", rig.At("a", 2)), "2")
		assert.Equal(t, []string{"update a@1 a@2"}, r.rec.Next(), "the others go on")
		assert.ErrorIs(t, r.Status().Err, forbidden)
		sinktest.Replace(y, "", nil, "3")
		synctest.Wait()
		assert.NoError(t, r.Status().Err)
	})
}

// TestNamespacePassedOver keeps neither the informer nor its version waiting, and is
// listed when it can be.
func TestNamespacePassedOver(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t, "x", "y")
		x, y := r.sinkOf("x"), r.sinkOf("y")
		sinktest.Replace(x, "", []*rig.Thing{in("x", rig.At("a", 1))}, "5")
		y.Report(errRefused)
		assert.Equal(t, []string{"initial a@1"}, r.rec.Next())
		assert.NoError(t, r.WaitForSync(t.Context()))
		assert.Equal(t, 1, r.Status().Failures)
		assert.ErrorContains(t, r.Status().Err, "namespace y: the informer does not wait for it: it is forbidden")
		y.Report(errRefused)
		assert.Equal(t, 1, r.Status().Failures, "nothing is new")

		sinktest.Bookmark(x, "9")
		synctest.Wait()
		assert.Equal(t, "9", r.ResourceVersion())
		require.NoError(t, r.set.Add("z"))
		z := r.sinkOf("z")
		sinktest.Bookmark(x, "12")
		synctest.Wait()
		assert.Equal(t, "9", r.ResourceVersion(), "z may be listed soon")
		z.Report(errRefused)
		synctest.Wait()
		assert.Equal(t, "12", r.ResourceVersion())

		sinktest.Replace(y, "", []*rig.Thing{in("y", rig.At("b", 11))}, "11")
		assert.Equal(t, []string{"add b@11"}, r.rec.Next())
		assert.Equal(t, "11", r.ResourceVersion())
		y.Report(errRefused)
		assert.Equal(t, "11", r.ResourceVersion())
		_, err := r.of.(source.Scoped).Stay("y")
		assert.NoError(t, err, "its objects stay")
		z.Report(nil)
		y.Report(nil)
		assert.NoError(t, r.Status().Err)
	})
}

// TestRemovedNamespaces hold up neither the informer nor its version.
func TestRemovedNamespaces(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t, "x", "y")
		x := r.sinkOf("x")
		sinktest.Replace(x, "", []*rig.Thing{in("x", rig.At("a", 1))}, "5")
		r.set.Remove("y")
		synctest.Wait()
		assert.NoError(t, r.WaitForSync(t.Context()))
		require.NoError(t, r.set.Add("y", "z"))
		sinktest.Replace(r.sinkOf("y"), "", nil, "6")
		sinktest.Bookmark(x, "9")
		synctest.Wait()
		assert.Equal(t, "5", r.ResourceVersion(), "z is missing")
		r.set.Remove("z")
		synctest.Wait()
		assert.Equal(t, "6", r.ResourceVersion())
		r.set.Remove("y")
		synctest.Wait()
		assert.Equal(t, "9", r.ResourceVersion())
	})
}

// TestReadingANamespace: it says what is missing, and never that an object is not found.
func TestReadingANamespace(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t, "x", "y")
		scoped := r.of.(source.Scoped)
		_, err := scoped.Stay("z")
		assert.EqualError(t, err, "namespace z: not one of the namespaces that the informer follows: add it to the set, or read from the API server")
		_, err = scoped.Stay("x")
		assert.EqualError(t, err, "namespace x: not listed yet: try again later")
		x, y := r.sinkOf("x"), r.sinkOf("y")
		missing := apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, "")
		x.Report(missing)
		_, err = scoped.Stay("x")
		assert.ErrorContains(t, err, "namespace x: not listed yet: try again later: things")
		assert.False(t, apierrors.IsNotFound(err))
		x.Report(fmt.Errorf("%w: %w", source.ErrPassedOver, apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New("ask"))))
		_, err = scoped.Stay("x")
		assert.True(t, apierrors.IsForbidden(err))
		sinktest.Replace(y, "", nil, "1")
		synctest.Wait()
		_, err = scoped.Stay("y")
		assert.NoError(t, err)
	})
	broken := source.NewNamespaces("x", "A_b")
	assert.ErrorContains(t, broken.Err("x"), `"A_b" cannot be the name of a namespace`)
}

func TestNamespacesVersion(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t, "x", "y")
		version := func() string { synctest.Wait(); return r.ResourceVersion() }
		x, y := r.sinkOf("x"), r.sinkOf("y")
		sinktest.Replace(x, "", nil, "5")
		assert.Empty(t, version())
		sinktest.Replace(y, "", nil, "7")
		assert.Equal(t, "5", version(), "the lowest of all")
		sinktest.Put(y, in("y", rig.At("a", 100)), "100")
		assert.Equal(t, "5", version())
		sinktest.Bookmark(x, "9")
		sinktest.Put(x, in("x", rig.At("b", 10)), "") // at no version
		assert.Equal(t, "9", version())
		sinktest.Bookmark(x, "110")
		assert.Equal(t, "100", version(), "a number, not text")
		waited := make(chan error, 1)
		go func() { waited <- r.WaitForResourceVersion(t.Context(), "105") }()
		synctest.Wait()
		assert.Empty(t, waited)
		sinktest.Bookmark(y, "105")
		assert.NoError(t, <-waited)

		require.NoError(t, r.set.Add("z"))
		z := r.sinkOf("z")
		sinktest.Bookmark(x, "120")
		sinktest.Bookmark(y, "121")
		assert.Equal(t, "105", version(), "z is not listed")
		sinktest.Replace(z, "", []*rig.Thing{in("z", rig.At("c", 90))}, "99")
		assert.Equal(t, "99", version(), "its list is older")
		sinktest.Bookmark(z, "130")
		assert.Equal(t, "120", version())
		sinktest.Replace(z, "", nil, "")
		sinktest.Bookmark(x, "140")
		assert.Equal(t, "120", version(), "the version of z is not known")
		sinktest.Bookmark(z, "150")
		assert.Equal(t, "121", version())
		r.set.Remove("y")
		assert.Equal(t, "140", version(), "it held the others back")
		r.scripts.script("x").Fail <- nil
		assert.Equal(t, "150", version(), "x has nothing more to say")
	})
}

func TestNamespacesProgress(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t, "x", "y")
		x, y := r.sinkOf("x"), r.sinkOf("y")
		x.Progress(2, 10)
		y.Progress(3, 0)
		assert.Equal(t, [2]int{5, 0}, [2]int{r.Status().Received, r.Status().Expected})
		y.Progress(4, 20)
		assert.Equal(t, [2]int{6, 30}, [2]int{r.Status().Received, r.Status().Expected})
	})
}

func TestNamespacesLeaveOutForeignObjects(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t, "x")
		x := r.sinkOf("x")
		sinktest.Replace(x, "", []*rig.Thing{in("x", rig.At("a", 1)), in("y", rig.At("b", 2)), nil}, "2")
		synctest.Wait()
		assert.Equal(t, 1, r.Len())
		sinktest.Put(x, in("y", rig.At("a", 3)), "3")
		assert.ErrorContains(t, r.Status().LastRejected, `object "y/a" at resource version "3" was left out: object came from the source of the namespace x`)
		sinktest.RemoveNamespace(x, "y", "4")
		sinktest.Replace(x, "y", nil, "4")
		synctest.Wait()
		assert.Equal(t, 1, r.Len())
		assert.Equal(t, 5, r.Status().Rejected)
		sinktest.Replace(x, "x", nil, "5")
		synctest.Wait()
		assert.Zero(t, r.Len())
	})
}

func TestNamespacesEndWithTheirSources(t *testing.T) {
	t.Run("with an error", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := newSpacesRig(t, "x", "y")
			go sinktest.Bookmark(r.sinkOf("y"), "1") // waits
			synctest.Wait()
			r.scripts.script("x").Fail <- assert.AnError
			err := <-r.Ended
			r.Ended <- nil
			assert.ErrorIs(t, err, assert.AnError)
			assert.ErrorContains(t, err, "namespace x: ")
			assert.ErrorIs(t, r.WaitForSync(t.Context()), assert.AnError)
		})
	})
	t.Run("that is nil", func(t *testing.T) {
		informer := typed.NewInformer(source.FromNamespaces(source.NewNamespaces("x"), func(string) source.Source[*rig.Thing] { return nil }))
		assert.ErrorContains(t, informer.Run(t.Context()), "namespace x: source is nil")
	})
}

func TestNamespacesCheckTheirArguments(t *testing.T) {
	src := (&scripts{started: map[string]*rig.Script{}}).source
	for want, informer := range map[string]*typed.Informer[*rig.Thing]{
		"set of namespaces is nil":                typed.NewInformer(source.FromNamespaces(nil, src)),
		"source function is nil":                  typed.NewInformer(source.FromNamespaces[*rig.Thing](source.NewNamespaces(), nil)),
		`"A_b" cannot be the name of a namespace`: typed.NewInformer(source.FromNamespaces(source.NewNamespaces("x", "A_b"), src)),
	} {
		assert.ErrorContains(t, informer.Run(t.Context()), want)
		assert.ErrorContains(t, informer.WaitForSync(t.Context()), want)
	}
	set := &source.Namespaces{}
	set.Remove("y")
	require.NoError(t, set.Add("x"))
	assert.ErrorContains(t, set.Add("y", ""), `"" stands for all namespaces`)
	assert.ErrorContains(t, set.Set("y", "-"), `"-" cannot be the name of a namespace`)
	assert.Equal(t, []string{"x"}, set.All(), "nothing has changed")
}

// TestOwnWritesInNamespaces: a write in one namespace is seen whatever the others do.
func TestOwnWritesInNamespaces(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := newSpacesRig(t, "ns", "quiet")
		ns, quiet := r.sinkOf("ns"), r.sinkOf("quiet")
		sinktest.Replace(ns, "", []*rig.Thing{rig.At("a", 3)}, "3")
		sinktest.Replace(quiet, "", nil, "2")
		require.NoError(t, r.WaitForKeyVersion(t.Context(), rig.Key("a"), "3"), "by its list")
		seen := make(chan error, 1)
		go func() { seen <- r.WaitForKeyVersion(t.Context(), rig.Key("a"), "5") }()
		synctest.Wait()
		require.Empty(t, seen)
		sinktest.Put(ns, rig.At("a", 5), "5")
		synctest.Wait()
		require.Len(t, seen, 1)
		assert.NoError(t, <-seen)
		assert.Equal(t, "2", r.ResourceVersion())

		require.NoError(t, r.set.Set("quiet"))
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, r.WaitForKeyVersion(ctx, rig.Key("a"), "5"), context.Canceled, "nothing is known of it any more")
	})
}

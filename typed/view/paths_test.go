package view_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/view"
)

// path is a way from a source through informers and views to a Sink. The changes that reach the
// Sink are those of a store in between: a UID decides which of them count, and a step is done when
// the first store has it.
type path struct {
	begin source.Sink[*rig.Thing]
	end   *sinktest.Recorder[*rig.Thing]
	of    typed.Followed[*rig.Thing] // the first informer
}

// paths are the ways, by name.
func paths(t *testing.T) map[string]func(t *testing.T) path {
	script := func(t *testing.T, make func(src source.Source[*rig.Thing]) typed.Followed[*rig.Thing]) (source.Sink[*rig.Thing], typed.Followed[*rig.Thing]) {
		s := rig.NewScript()
		of := make(s)
		return <-s.Started, of
	}
	informer := func(t *testing.T) func(source.Source[*rig.Thing]) typed.Followed[*rig.Thing] {
		return func(src source.Source[*rig.Thing]) typed.Followed[*rig.Thing] {
			i := typed.NewInformer(src)
			t.Cleanup(run(t, i))
			return i
		}
	}
	end := func(t *testing.T, begin source.Sink[*rig.Thing], of typed.Followed[*rig.Thing], v *view.View[*rig.Thing]) path {
		p := path{begin: begin, end: &sinktest.Recorder[*rig.Thing]{}, of: of}
		ctx, cancel := contextOf(t)
		ended := make(chan error, 1)
		go func() { ended <- v.Run(ctx, p.end) }()
		t.Cleanup(func() {
			cancel()
			assert.NoError(t, <-ended)
		})
		return p
	}
	return map[string]func(t *testing.T) path{
		"view": func(t *testing.T) path {
			begin, of := script(t, informer(t))
			return end(t, begin, of, versionsOfThings(view.Of(of)))
		},
		"view of a view": func(t *testing.T) path {
			begin, of := script(t, informer(t))
			inner := informer(t)(versionsOfThings(view.Of(of)))
			return end(t, begin, of, versionsOfThings(view.Of(inner)))
		},
		"factory": func(t *testing.T) path {
			begin, of := script(t, func(src source.Source[*rig.Thing]) typed.Followed[*rig.Thing] {
				f := typed.NewFactory()
				shared, err := typed.Share(f, "things", func() source.Source[*rig.Thing] { return src })
				require.NoError(t, err)
				t.Cleanup(f.Shutdown)
				return shared
			})
			return end(t, begin, of, view.Of(of))
		},
	}
}

// take returns what has come at the end.
func (p path) take() ([]sinktest.Report[*rig.Thing], []error) {
	synctest.Wait()
	return p.end.Take()
}

// step returns the one step that has come, which is at a version.
func (p path) step(t *testing.T, version string) sinktest.Report[*rig.Thing] {
	t.Helper()
	reports, _ := p.take()
	require.Len(t, reports, 1)
	assert.Equal(t, "Step", reports[0].Method)
	assert.Equal(t, version, reports[0].Version, "version")
	return reports[0]
}

// TestPaths: what a source has reported comes through informers and views.
func TestPaths(t *testing.T) {
	key, own := rig.Key("a"), types.UID("own")
	object := rig.At("a", 1)
	object.UID = own
	cells := map[string]func(t *testing.T, p path){
		"object": func(t *testing.T, p path) {
			changed := rig.At("a", 5)
			p.begin.Change(index.Change[*rig.Thing]{Object: changed, Reason: index.Acquired}, "5")
			assert.Equal(t, []index.Change[*rig.Thing]{{Object: changed, Reason: index.Acquired}}, p.step(t, "5").Changes)
		},
		"deletion": func(t *testing.T, p path) {
			p.begin.Change(index.Change[*rig.Thing]{Delete: true, Object: rig.At("a", 5), Reason: index.Released}, "5")
			assert.Equal(t, []index.Change[*rig.Thing]{{Delete: true, Object: object, Reason: index.Released}}, p.step(t, "5").Changes)
		},
		"deletion by key": func(t *testing.T, p path) {
			p.begin.Change(index.Change[*rig.Thing]{Delete: true, Key: &key, Reason: index.OutOfScope}, "5")
			assert.Equal(t, []index.Change[*rig.Thing]{{Delete: true, Object: object, Reason: index.OutOfScope}}, p.step(t, "5").Changes)
		},
		"UID": func(t *testing.T, p path) {
			other := types.UID("other")
			p.begin.Change(index.Change[*rig.Thing]{Delete: true, Key: &key, UID: &other}, "5")
			assert.Empty(t, p.step(t, "5").Changes, "it is another object")
			p.begin.Change(index.Change[*rig.Thing]{Delete: true, Key: &key, UID: &own}, "6")
			assert.Len(t, p.step(t, "6").Changes, 1)
		},
		"step": func(t *testing.T, p path) {
			p.begin.Step([]index.Change[*rig.Thing]{{Delete: true, Key: &key, Reason: index.Released}, {Object: rig.At("b", 5)}}, "5", nil)
			assert.Len(t, p.step(t, "5").Changes, 2, "it is one")
		},
		"done": func(t *testing.T, p path) {
			done := 0
			p.begin.Step(nil, "5", func() { done++ })
			assert.Empty(t, p.step(t, "5").Changes, "a bookmark")
			assert.Equal(t, 1, done)
		},
		"list": func(t *testing.T, p path) {
			p.begin.Replace(source.List{Items: sinktest.StageAll(p.begin, rig.At("b", 5))}, "5")
			got := p.step(t, "5").Changes
			require.Len(t, got, 2, "it is one step")
			assert.Equal(t, []index.Reason{index.Relisted, index.Relisted}, []index.Reason{got[0].Reason, got[1].Reason})
		},
		"list of a part": func(t *testing.T, p path) {
			p.begin.Replace(source.List{Part: true, Gone: []index.Key{key}, Reason: index.Released}, "5")
			assert.Equal(t, index.Released, p.step(t, "5").Changes[0].Reason)
		},
		"namespace that leaves": func(t *testing.T, p path) {
			p.begin.Replace(source.List{Namespace: key.Namespace, Reason: index.Released}, "5")
			assert.Equal(t, index.Released, p.step(t, "5").Changes[0].Reason)
		},
		"error": func(t *testing.T, p path) {
			p.begin.Report(errBroken)
			_, errs := p.take()
			assert.ErrorIs(t, errors.Join(errs...), errBroken)
			p.begin.Report(nil)
			_, errs = p.take()
			assert.Equal(t, []error{nil}, errs)
		},
		"progress": func(t *testing.T, p path) {
			p.begin.Progress(3, 9)
			status := p.of.(typed.AnyInformer).Status()
			assert.Equal(t, [2]int{3, 9}, [2]int{status.Received, status.Expected})
		},
		"rejected": func(t *testing.T, p path) {
			p.begin.Report(&source.RejectedError{Key: key, Err: errBroken})
			p.begin.Step([]index.Change[*rig.Thing]{{Object: rig.At("b", 5)}}, "5", nil)
			assert.Len(t, p.step(t, "5").Changes, 1, "the earlier state stays")
			assert.Equal(t, 1, p.of.(typed.AnyInformer).Status().RejectedNow)
		},
		"list with what is rejected": func(t *testing.T, p path) {
			p.begin.Replace(source.List{Items: []source.Staged{source.Reject(key)}}, "5")
			assert.Empty(t, p.step(t, "5").Changes, "it is not gone")
		},
		"key of what is staged": func(t *testing.T, p path) {
			assert.Equal(t, key, p.begin.Stage(object, "5").Key())
		},
		"held": func(t *testing.T, p path) {
			held, ok := p.begin.Decoding().Held(key)
			assert.True(t, ok)
			assert.Same(t, object, held, "what readers have")
		},
		"needs": func(t *testing.T, p path) {
			assert.Empty(t, p.begin.Decoding().Needs)
			p.end.Needs = []string{"metadata.labels"}
			assert.Equal(t, p.end.Needs, p.begin.Decoding().Needs)
		},
		"meter": func(t *testing.T, p path) {
			p.begin.Decoding().Meter.Read(7)
			assert.EqualValues(t, 7, p.of.(typed.AnyInformer).Status().Traffic.Bytes)
		},
	}
	for name, begin := range paths(t) {
		for what, test := range cells {
			t.Run(name+"/"+what, func(t *testing.T) {
				rig.InBubble(t, func(t *testing.T) {
					p := begin(t)
					p.begin.Replace(source.List{Items: sinktest.StageAll(p.begin, object)}, "1")
					first, _ := p.take()
					require.NotEmpty(t, first)
					assert.Len(t, first[0].List.Items, 1, "the first list")
					assert.Equal(t, "1", first[0].Version)
					test(t, p)
				})
			})
		}
	}
}

package typed_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// placement is a projection with nothing but what it needs.
type placement struct{ namespace, name, node string }

func (p placement) GetNamespace() string { return p.namespace }
func (p placement) GetName() string      { return p.name }

func placementOf(o *thing) placement { return placement{o.namespace, o.name, o.node} }

func TestMap(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		source := newScript()
		projected := map[*thing]int{}
		informer := typed.NewInformer(typed.Map(source, func(o *thing) placement {
			projected[o]++
			return placementOf(o)
		}))
		var deleted []typed.Deleted[placement]
		_, err := informer.Handle(typed.HandlerFuncs[placement]{
			DeleteFunc: func(d typed.Deleted[placement]) { deleted = append(deleted, d) },
		})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
		defer running.Wait()
		defer cancel()
		sink := <-source.started

		received := []*thing{
			on("x", at("a", 1)), on("x", at("b", 2)), on("y", at("a", 3)), on("z", at("b", 4)), on("z", at("c", 5)),
			on("v", at("d", 7)), on("w", at("a", 8)),
		}
		sink.Replace([]*thing{received[0], received[1]}, "2")
		synctest.Wait()
		assert.Equal(t, "2", informer.ResourceVersion(), "the version comes with the report")
		sink.Update(received[2], "3")
		sink.Delete(received[3], "4")
		sink.Add(received[4], "5")
		sink.Bookmark("6")
		synctest.Wait()
		assert.Equal(t, "6", informer.ResourceVersion())
		assert.Equal(t, []typed.Deleted[placement]{{
			Key: key("b"), Object: placement{"ns", "b", "z"}, Old: placement{"ns", "b", "x"}, Reason: index.Watched,
		}}, deleted, "with the last state, projected")
		sink.ReplaceNamespace("ns", []*thing{received[5], received[6]}, "8")
		synctest.Wait()
		assert.ElementsMatch(t, []placement{{"ns", "a", "w"}, {"ns", "d", "v"}}, informer.List())
		for _, o := range received {
			assert.Equal(t, 1, projected[o], o)
		}
		sink.Report(assert.AnError)
		sink.Progress(3, 7)
		status := informer.Status()
		assert.ErrorIs(t, status.Err, assert.AnError)
		assert.Equal(t, 7, status.Expected)
		sink.RemoveNamespace("ns", "9")
		synctest.Wait()
		assert.Zero(t, informer.Len())
	})
}

func TestMapLeavesOutWhatItCannotProject(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		source := newScript()
		informer := typed.NewInformer(typed.Map(source, func(o *thing) *thing {
			switch o.name {
			case "nil":
				return nil
			case "renamed":
				return at("another", o.version)
			}
			return o
		}))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
		defer running.Wait()
		defer cancel()
		sink := <-source.started
		for i, c := range []struct {
			obj  *thing
			want string
		}{
			{nil, "it is nil"},
			{at("nil", 1), "its projection is nil"},
			{at("renamed", 1), `its projection has another key, "ns/another"`},
		} {
			if i%2 == 0 {
				sink.Replace([]*thing{at("a", 1), c.obj}, "1")
			} else {
				sink.Update(c.obj, "2")
			}
			synctest.Wait()
			status := informer.Status()
			assert.ErrorContains(t, status.LastRejected, c.want)
			assert.Equal(t, i+1, status.Rejected)
			assert.Equal(t, 1, informer.Len())
		}
	})
}

func TestMapChecksItsArguments(t *testing.T) {
	none := typed.NewInformer(typed.Map[*thing, placement](newScript(), nil))
	assert.ErrorContains(t, none.Run(t.Context()), "the function that projects is nil")
	none = typed.NewInformer(typed.Map(nil, placementOf))
	assert.ErrorContains(t, none.Run(t.Context()), "the source to project is nil")
}

// TestStreamedObjectsAreProjectedAsTheyCome has a server stream a list, and looks
// at what is kept before it is complete.
func TestStreamedObjectsAreProjectedAsTheyCome(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		stream := watch.NewFake()
		calls := map[string]int{}
		informer := typed.NewInformer(typed.FilterMap(
			typed.FromListerWatcher[*corev1.Pod](&cache.ListWatch{
				WatchFuncWithContext: func(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
					assert.NotNil(t, opts.SendInitialEvents)
					return stream, nil
				},
			}),
			func(p *corev1.Pod) (placement, bool) {
				calls["project "+p.Name+"@"+p.ResourceVersion]++
				return placement{p.Namespace, p.Name, p.Spec.NodeName}, p.Spec.NodeName != ""
			},
		), typed.WithTransform(func(p placement) (placement, error) {
			calls["transform "+p.name+" on "+p.node]++
			return p, nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
		defer running.Wait()
		defer cancel()

		version := 0
		send := func(event watch.EventType, name, node string) weak.Pointer[corev1.Pod] {
			version++
			pod := newPod(name, node)
			pod.ResourceVersion = fmt.Sprint(version)
			stream.Action(event, pod)
			return weak.Make(pod)
		}
		first := send(watch.Added, "a", "n1")
		send(watch.Added, "b", "")
		send(watch.Added, "c", "n3")
		send(watch.Modified, "a", "n4")
		send(watch.Deleted, "c", "n3")
		send(watch.Added, "d", "n5")
		synctest.Wait()
		assert.Equal(t, 1, calls["project a@1"])
		assert.Equal(t, 1, calls["transform a on n1"])
		for i := 0; first.Value() != nil && i < 10; i++ {
			runtime.GC()
		}
		assert.Nil(t, first.Value(), "nothing of it is kept but the projection")
		assert.Equal(t, typed.PhaseSyncing, informer.Status().Phase)

		end := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "7", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}}
		stream.Action(watch.Bookmark, end)
		version++
		send(watch.Modified, "d", "")
		send(watch.Modified, "b", "n6")
		synctest.Wait()
		assert.ElementsMatch(t, []placement{{"default", "a", "n4"}, {"default", "b", "n6"}}, informer.List())
		assert.Equal(t, "9", informer.ResourceVersion())
		assert.Equal(t, map[string]int{
			"project a@1": 1, "project b@2": 1, "project c@3": 1, "project a@4": 1, "project d@6": 1, "project d@8": 1, "project b@9": 1,
			"transform a on n1": 1, "transform c on n3": 1, "transform a on n4": 1, "transform d on n5": 1, "transform b on n6": 1,
		}, calls)
	})
}

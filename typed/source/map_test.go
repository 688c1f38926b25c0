package source_test

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
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// nodeOf projects a thing.
func nodeOf(o *rig.Thing) podNode { return podNode{o.Namespace, o.Name, o.Node} }

func TestMap(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		src := rig.NewScript()
		projected := map[*rig.Thing]int{}
		informer := typed.NewInformer(source.Map(src, func(o *rig.Thing) podNode {
			projected[o]++
			return nodeOf(o)
		}))
		var deleted []typed.Deleted[podNode]
		_, err := informer.Handle(typed.HandlerFuncs[podNode]{
			DeleteFunc: func(d typed.Deleted[podNode]) { deleted = append(deleted, d) },
		})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
		defer running.Wait()
		defer cancel()
		sink := <-src.Started

		received := []*rig.Thing{
			rig.On("x", rig.At("a", 1)), rig.On("x", rig.At("b", 2)), rig.On("y", rig.At("a", 3)), rig.On("z", rig.At("b", 4)), rig.On("z", rig.At("c", 5)),
			rig.On("v", rig.At("d", 7)), rig.On("w", rig.At("a", 8)),
		}
		sinktest.Replace(sink, "", []*rig.Thing{received[0], received[1]}, "2")
		synctest.Wait()
		assert.Equal(t, "2", informer.ResourceVersion(), "the version comes with the report")
		sinktest.Put(sink, received[2], "3")
		sinktest.Delete(sink, received[3], "4")
		sinktest.Put(sink, received[4], "5")
		sinktest.Bookmark(sink, "6")
		synctest.Wait()
		assert.Equal(t, "6", informer.ResourceVersion())
		assert.Equal(t, []typed.Deleted[podNode]{{
			Key: rig.Key("b"), Object: podNode{"ns", "b", "z"}, Old: podNode{"ns", "b", "x"}, Reason: index.Watched,
		}}, deleted, "with the last state, projected")
		sinktest.Replace(sink, "ns", []*rig.Thing{received[5], received[6]}, "8")
		synctest.Wait()
		assert.ElementsMatch(t, []podNode{{"ns", "a", "w"}, {"ns", "d", "v"}}, informer.List())
		for _, o := range received {
			assert.Equal(t, 1, projected[o], o)
		}
		sink.Report(assert.AnError)
		sink.Progress(3, 7)
		status := informer.Status()
		assert.ErrorIs(t, status.Err, assert.AnError)
		assert.Equal(t, 7, status.Expected)
		sinktest.RemoveNamespace(sink, "ns", "9")
		synctest.Wait()
		assert.Zero(t, informer.Len())
	})
}

func TestMapLeavesOutFailedProjections(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		src := rig.NewScript()
		informer := typed.NewInformer(source.Map(src, func(o *rig.Thing) *rig.Thing {
			switch o.Name {
			case "nil":
				return nil
			case "renamed":
				return rig.At("another", o.Version)
			}
			return o
		}))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
		defer running.Wait()
		defer cancel()
		sink := <-src.Started
		for i, c := range []struct {
			obj  *rig.Thing
			want string
		}{
			{nil, "object is nil"},
			{rig.At("nil", 1), "projected object is nil"},
			{rig.At("renamed", 1), `projected object has another key, "ns/another"`},
		} {
			if i%2 == 0 {
				sinktest.Replace(sink, "", []*rig.Thing{rig.At("a", 1), c.obj}, "1")
			} else {
				sinktest.Put(sink, c.obj, "2")
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
	none := typed.NewInformer(source.Map[*rig.Thing, podNode](rig.NewScript(), nil))
	assert.ErrorContains(t, none.Run(t.Context()), "projection is nil")
	none = typed.NewInformer(source.Map(nil, nodeOf))
	assert.ErrorContains(t, none.Run(t.Context()), "source is nil")
}

// TestStreamedObjectsAreProjectedAsTheyCome: a server streams a list, whose objects are projected
// before it is complete.
func TestStreamedObjectsAreProjectedAsTheyCome(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		stream := watch.NewFake()
		calls := map[string]int{}
		informer := typed.NewInformer(source.FilterMap(
			kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{
				WatchFuncWithContext: func(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
					assert.NotNil(t, opts.SendInitialEvents)
					return struct{ watch.Interface }{stream}, nil // fakes by themselves end no list
				},
			}),
			func(p *corev1.Pod) (podNode, bool) {
				calls["project "+p.Name+"@"+p.ResourceVersion]++
				return podNode{p.Namespace, p.Name, p.Spec.NodeName}, p.Spec.NodeName != ""
			},
		), typed.WithTransform(func(p podNode) (podNode, error) {
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
			pod := rig.NewPod(name, node)
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
		assert.Equal(t, report.PhaseSyncing, informer.Status().Phase)

		end := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "7", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}}
		stream.Action(watch.Bookmark, end)
		version++
		send(watch.Modified, "d", "")
		send(watch.Modified, "b", "n6")
		synctest.Wait()
		assert.ElementsMatch(t, []podNode{{"default", "a", "n4"}, {"default", "b", "n6"}}, informer.List())
		assert.Equal(t, "9", informer.ResourceVersion())
		assert.Equal(t, map[string]int{
			"project a@1": 1, "project b@2": 1, "project c@3": 1, "project a@4": 1, "project d@6": 1, "project d@8": 1, "project b@9": 1,
			"transform a on n1": 1, "transform c on n3": 1, "transform a on n4": 1, "transform d on n5": 1, "transform b on n6": 1,
		}, calls)
	})
}

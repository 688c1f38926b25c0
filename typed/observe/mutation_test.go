package observe_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/pods"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/source"
)

// detecting is a running informer of Pods that detects mutations every minute.
type detecting struct {
	*typed.Informer[*corev1.Pod]
	sink source.Sink[*corev1.Pod]
	told []observe.Mutation // while the bubble is idle
}

// Run implements source.Source.
func (d *detecting) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	d.sink = sink
	<-ctx.Done()
	return nil
}

var made = pods.Cluster{Namespaces: []string{"shop"}, Nodes: 3, PerApp: 10}

// startDetecting starts an informer of the first n Pods.
func startDetecting(t *testing.T, n int, handlers ...typed.Handler[*corev1.Pod]) *detecting {
	d := &detecting{}
	d.Informer = typed.NewInformer[*corev1.Pod](d, typed.WithName("pods"),
		observe.WithMutationDetection(time.Minute, func(m observe.Mutation) { d.told = append(d.told, m) }))
	for _, h := range handlers {
		_, err := d.Handle(h)
		require.NoError(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Informer.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	synctest.Wait()
	var list []*corev1.Pod
	for i := range n {
		list = append(list, made.Pod(i, 1))
	}
	sinktest.Replace(d.sink, "", list, "1")
	synctest.Wait()
	return d
}

// pod returns Pod number i as the store has it.
func (d *detecting) pod(t *testing.T, i int) *corev1.Pod {
	pod, ok := d.Get(index.KeyOf(made.Pod(i, 1)))
	require.True(t, ok)
	return pod
}

// pass lets a period pass. It orders earlier writes of the test before later reads of the informer.
// The race detector would report them otherwise, as it should: code that modifies shared objects
// does not lock them.
func (d *detecting) pass() {
	sinktest.Delete(d.sink, made.Pod(9_999, 1), "1") // which is not there
	synctest.Wait()
	time.Sleep(time.Minute)
	synctest.Wait()
}

func TestMutationsAreDetected(t *testing.T) {
	for name, test := range map[string]struct {
		mutate func(*corev1.Pod)
		want   []observe.ModifiedField
	}{
		"a changed label": {
			func(p *corev1.Pod) { p.Labels["app"] = "mine" },
			[]observe.ModifiedField{{Path: "metadata.labels[app]", Old: `"auth-api"`, New: `"mine"`}},
		},
		"a sorted slice": {
			func(p *corev1.Pod) {
				slices.SortFunc(p.Spec.Tolerations, func(a, b corev1.Toleration) int { return -slices.Compare([]byte(a.Key), []byte(b.Key)) })
			},
			[]observe.ModifiedField{
				{Path: "spec.tolerations[0].key", Old: `"node.kubernetes.io/not-ready"`, New: `"node.kubernetes.io/unreachable"`},
				{Path: "spec.tolerations[1].key", Old: `"node.kubernetes.io/unreachable"`, New: `"node.kubernetes.io/not-ready"`},
			},
		},
		"a changed nested pointer": {
			func(p *corev1.Pod) { *p.Spec.Containers[1].ReadinessProbe = corev1.Probe{PeriodSeconds: 7} },
			[]observe.ModifiedField{
				{Path: "spec.containers[1].readinessProbe.httpGet", Old: `{path:"/readyz" port:{IntVal:8180} scheme:"HTTP"}`, New: "nil"},
				{Path: "spec.containers[1].readinessProbe.timeoutSeconds", Old: "1", New: "0"},
				{Path: "spec.containers[1].readinessProbe.periodSeconds", Old: "10", New: "7"},
				{Path: "spec.containers[1].readinessProbe.successThreshold", Old: "1", New: "0"},
				{Path: "spec.containers[1].readinessProbe.failureThreshold", Old: "3", New: "0"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				d := startDetecting(t, 5)
				d.pass()
				require.Empty(t, d.told)
				pod := d.pod(t, 3)
				test.mutate(pod)
				d.pass()
				want := []observe.Mutation{{Informer: "pods", Key: index.KeyOf(pod), ResourceVersion: "10000003", Fields: test.want}}
				assert.Equal(t, want, d.told)
				d.pod(t, 3).Labels["b"] = "c"
				d.pass()
				assert.Equal(t, want, d.told, "once for each object")
			})
		})
	}
}

// TestMutationsOfHandlersAreDetected: a handler modifies an object of an event, which is replaced
// at once.
func TestMutationsOfHandlersAreDetected(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d := startDetecting(t, 5, typed.HandlerFuncs[*corev1.Pod]{
			UpdateFunc: func(_, p *corev1.Pod) {
				if p.ResourceVersion == made.Pod(2, 2).ResourceVersion {
					p.Annotations["seen"] = "true"
				}
			},
		})
		sinktest.Put(d.sink, made.Pod(2, 2), "20000002")
		synctest.Wait()
		sinktest.Put(d.sink, made.Pod(2, 3), "30000002")
		d.pass()
		require.Len(t, d.told, 1)
		assert.Equal(t, fmt.Sprintf(`informer pods: object %s was modified: metadata.annotations[seen] was none, is "true"`, index.KeyOf(d.pod(t, 2))), d.told[0].String())
	})
}

// TestChangesFromTheSourceAreNoMutations replaces, deletes and lists objects.
func TestChangesFromTheSourceAreNoMutations(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d := startDetecting(t, 20)
		for version := 2; version < 6; version++ {
			for i := range 10 {
				sinktest.Put(d.sink, made.Pod(i, version), "2")
			}
			sinktest.Delete(d.sink, made.Pod(15, version), "3")
			sinktest.Put(d.sink, made.Pod(15, version), "4")
			d.pass()
		}
		var list []*corev1.Pod
		for i := range 12 {
			list = append(list, made.Pod(i, 7))
		}
		sinktest.Replace(d.sink, "", list, "7")
		d.pass()
		d.pass()
		assert.Equal(t, 12, d.Len())
		assert.Empty(t, d.told)
	})
}

// TestMutationOfASharedPartIsReportedOfEveryObject that has it, and of no other.
func TestMutationOfASharedPartIsReportedOfEveryObject(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d := startDetecting(t, 3)
		first, second := made.Pod(0, 2), made.Pod(1, 2)
		second.Labels = first.Labels
		sinktest.Put(d.sink, first, "2")
		sinktest.Put(d.sink, second, "2")
		d.pass()
		require.Empty(t, d.told)
		first.Labels["b"] = "c"
		d.pass()
		var told []index.Key
		for _, m := range d.told {
			told = append(told, m.Key)
		}
		assert.ElementsMatch(t, []index.Key{index.KeyOf(first), index.KeyOf(second)}, told)
	})
}

// TestMutationIsReportedAgainOfANewObject deletes an object and creates it again.
func TestMutationIsReportedAgainOfANewObject(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d := startDetecting(t, 3)
		for version := 2; version < 4; version++ {
			d.pod(t, 1).Labels["b"] = "c"
			d.pass()
			assert.Len(t, d.told, version-1)
			sinktest.Delete(d.sink, made.Pod(1, 1), "2")
			d.pass()
			sinktest.Put(d.sink, made.Pod(1, version), "3")
			synctest.Wait()
		}
	})
}

// TestMutationIsReportedOfAnObjectThatReplacesAnother of the same name within one period; of each of
// the two once, as of another state of one object.
func TestMutationIsReportedOfAnObjectThatReplacesAnother(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d := startDetecting(t, 3)
		for n := range 3 {
			d.pod(t, 1).Labels["b"] = "c"
			d.pass()
			assert.Len(t, d.told, n+1)
			d.pod(t, 1).Labels["b"] = "d"
			again := made.Pod(1, 2+2*n)
			again.UID = d.pod(t, 1).UID
			sinktest.Put(d.sink, again, "2")
			synctest.Wait()
			d.pod(t, 1).Labels["b"] = "e"
			d.pass()
			assert.Len(t, d.told, n+1, "it is the same object")

			sinktest.Delete(d.sink, again, "2")
			other := made.Pod(1, 3+2*n)
			other.UID = types.UID(fmt.Sprint("another ", n))
			sinktest.Put(d.sink, other, "3")
			synctest.Wait()
		}
	})
}

// TestReplacedObjectsAreForgotten when they have been compared.
func TestReplacedObjectsAreForgotten(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d := startDetecting(t, 3)
		var objects []weak.Pointer[corev1.Pod]
		for version := range 4 {
			pod := made.Pod(1, 2+version)
			objects = append(objects, weak.Make(pod))
			sinktest.Put(d.sink, pod, "2")
			synctest.Wait()
		}
		d.pass()
		runtime.GC()
		for _, replaced := range objects[:3] {
			assert.Nil(t, replaced.Value())
		}
		assert.NotNil(t, objects[3].Value(), "it is in the store")
	})
}

// TestRecordsAreReleased: Release of the informer frees the objects on record, too.
func TestRecordsAreReleased(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d := &detecting{}
		d.Informer = typed.NewInformer[*corev1.Pod](d, observe.WithMutationDetection(time.Minute, func(observe.Mutation) {}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Informer.Run(ctx) }()
		synctest.Wait()
		pod := made.Pod(1, 1)
		sinktest.Put(d.sink, pod, "1")
		synctest.Wait()
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, d.Release())
		of := weak.Make(pod)
		pod = nil
		runtime.GC()
		assert.Nil(t, of.Value())
		assert.Zero(t, d.Status().Objects, "the informer is still referred to")
	})
}

// TestRecordsAreBounded replaces objects faster than the period passes.
func TestRecordsAreBounded(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d := startDetecting(t, 10)
		d.pod(t, 4).Labels["b"] = "c"
		var replaced []weak.Pointer[corev1.Pod]
		for version := range 400 {
			for i := range 10 {
				pod := made.Pod(i, 2+version)
				replaced = append(replaced, weak.Make(pod))
				sinktest.Put(d.sink, pod, "2")
			}
			synctest.Wait()
		}
		assert.Len(t, d.told, 1, "it was compared before the period had passed")
		runtime.GC()
		kept := 0
		for _, pod := range replaced {
			if pod.Value() != nil {
				kept++
			}
		}
		assert.LessOrEqual(t, kept, 2*10+observe.SpareRecords+10, "of 4000: twice as many as there are, some more, and a batch")
		d.pass()
		assert.Len(t, d.told, 1)
	})
}

func TestPanicOfAReport(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
		defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
		utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
		calls := 0
		d := &detecting{}
		d.Informer = typed.NewInformer[*corev1.Pod](d, observe.WithMutationDetection(time.Minute, func(observe.Mutation) {
			calls++
			panic("of the report")
		}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Informer.Run(ctx) }()
		synctest.Wait()
		sinktest.Replace(d.sink, "", []*corev1.Pod{made.Pod(0, 1), made.Pod(1, 1)}, "1")
		synctest.Wait()
		d.pod(t, 0).Labels["b"] = "c"
		d.pod(t, 1).Labels["b"] = "c"
		d.pass()
		assert.Equal(t, 2, calls)
		cancel()
		assert.NoError(t, <-ended)
	})
}

// tagged is an object that has no ==.
type tagged struct {
	name string
	_    []string
}

func (o tagged) GetName() string    { return o.name }
func (tagged) GetNamespace() string { return "" }

func TestMutationDetectionIsChecked(t *testing.T) {
	report := func(observe.Mutation) {}
	for want, opt := range map[string]typed.Option{
		"is nil":              observe.WithMutationDetection(time.Minute, nil),
		"has to be positive":  observe.WithMutationDetection(0, report),
		"and has to be posit": observe.WithMutationDetection(-1, report),
	} {
		assert.ErrorContains(t, typed.NewInformer(rig.NewScript(), opt).Run(t.Context()), want)
	}
	values := source.Map(rig.NewScript(), func(obj *rig.Thing) tagged { return tagged{name: obj.Name} })
	assert.ErrorContains(t, typed.NewInformer(values, observe.WithMutationDetection(time.Minute, report)).Run(t.Context()), "has no ==")
	assert.ErrorContains(t, typed.NewInformer(values).Observe(observe.WithMutationDetection(time.Minute, report)), "has no ==")
	i := typed.NewInformer(rig.NewScript())
	assert.ErrorContains(t, i.Observe(observe.WithMutationDetection(0, report)), "has to be positive")
	require.NoError(t, i.Observe(observe.WithMutationDetection(time.Minute, report)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, i.Run(ctx))
	assert.ErrorContains(t, typed.NewInformer(rig.NewScript()).Observe(typed.WithRecreation()), "WithRecreation is for NewInformer")
	assert.True(t, errors.Is(i.Observe(observe.WithMutationDetection(time.Minute, report)), typed.ErrStarted))
}

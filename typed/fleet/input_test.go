package fleet_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/source"
)

// TestBadClusters are refused, and change nothing.
func TestBadClusters(t *testing.T) {
	clusters, err := fleet.NewClusters(fleet.Cluster{Name: "east"})
	require.NoError(t, err)
	for name, want := range map[string]string{
		"":                       "a cluster has no name",
		"east":                   "cluster east: there is one of that name in the set",
		"a=b":                    `cluster "a=b": a name has printable characters but spaces`,
		"a\nb":                   `cluster "a\nb"`,
		"a;b":                    `cluster "a;b"`,
		"\xff":                   `cluster "\xff"`,
		strings.Repeat("x", 254): "the name has 254 bytes",
	} {
		err := clusters.Add(fleet.Cluster{Name: "west"}, fleet.Cluster{Name: name})
		assert.ErrorContains(t, err, want)
		if name != "east" {
			assert.ErrorContains(t, clusters.Put(fleet.Cluster{Name: name}), want)
		}
	}
	assert.Equal(t, []fleet.Cluster{{Name: "east"}}, clusters.All())
	_, err = fleet.NewClusters(fleet.Cluster{Name: "west"}, fleet.Cluster{Name: "west"})
	assert.EqualError(t, err, "cluster west: there are two of that name")
	require.NoError(t, clusters.Add(fleet.Cluster{Name: "arn:aws:eks:eu-west-1:1234:cluster/prod"}), "as AWS calls its contexts")
	clusters.Remove("nobody", "east")
	assert.Len(t, clusters.All(), 1)
}

// TestBadSources: each method that returns an error returns the fault of the source.
func TestBadSources(t *testing.T) {
	open := func(fleet.Cluster) source.Source[*corev1.Pod] { return &script{} }
	set := &fleet.Clusters{}
	for want, src := range map[string]*fleet.Source[*corev1.Pod]{
		"set of clusters is nil":        fleet.NewSource(nil, open),
		"source function is nil":        fleet.NewSource[*corev1.Pod](set, nil),
		"option is nil":                 fleet.NewSource(set, open, nil),
		"the patience -1s is negative":  fleet.NewSource(set, open, fleet.WithPatience(-time.Second)),
		"the expiry 0s is not positive": fleet.NewSource(set, open, fleet.WithExpiry(0)),
	} {
		err := typed.NewInformer(src).Run(t.Context())
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "fleet of *v1.Pod: ")
		assert.ErrorContains(t, src.WaitForSync(t.Context()), want)
		assert.ErrorContains(t, src.WaitForResourceVersion(t.Context(), "east", "1"), want)
		assert.Nil(t, src.Status())
		_, ok := src.StatusOf("east")
		assert.False(t, ok)
	}
}

// run is a source that is a function.
type run func(ctx context.Context, sink source.Sink[*corev1.Pod]) error

func (r run) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error { return r(ctx, sink) }

// TestSourcesThatMisbehave are named, lose nothing, and take no other with them.
func TestSourcesThatMisbehave(t *testing.T) {
	handlers := utilruntime.PanicHandlers
	defer func() { utilruntime.PanicHandlers = handlers }()
	utilruntime.PanicHandlers = []func(context.Context, any){func(ctx context.Context, _ any) { klog.FromContext(ctx).Info("Panic") }}
	errOops := errors.New("oops")
	for want, open := range map[string]func() source.Source[*corev1.Pod]{
		"source is nil":                 func() source.Source[*corev1.Pod] { return nil },
		"the source has panicked: oops": func() source.Source[*corev1.Pod] { panic(errOops) },
		"source has ended: oops": func() source.Source[*corev1.Pod] {
			return run(func(context.Context, source.Sink[*corev1.Pod]) error { return errOops })
		},
		"the source has ended its goroutine": func() source.Source[*corev1.Pod] {
			return run(func(context.Context, source.Sink[*corev1.Pod]) error { runtime.Goexit(); return nil })
		},
		"the source has panicked: again": func() source.Source[*corev1.Pod] {
			return run(func(_ context.Context, sink source.Sink[*corev1.Pod]) error {
				sinktest.Replace(sink, "", []*corev1.Pod{at("kept", 1)}, "1")
				panic("again")
			})
		},
		"the source has panicked: runtime error": func() source.Source[*corev1.Pod] { return (*script)(nil) },
	} {
		t.Run(want, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				w := prepareWorld(t, []string{"bad", "good"})
				var log bytes.Buffer // the handler has a lock
				w.logger = logr.FromSlogHandler(slog.NewTextHandler(&log, nil))
				w.source = fleet.NewSource(w.clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] {
					if c.Name == "bad" {
						return open()
					}
					return w.open(c)
				})
				w.Informer = typed.NewInformer(w.source)
				w.start()
				w.list("good", 5, at("a", 1))
				assert.True(t, w.isSynced())
				s := w.status("bad")
				assert.Equal(t, fleet.PhaseFailed, s.Phase)
				assert.ErrorContains(t, s.Err, "cluster bad: source has ended: ")
				assert.ErrorContains(t, s.Err, want)
				assert.ErrorContains(t, w.Status().Err, want)
				if strings.Contains(want, "oops") {
					assert.ErrorIs(t, s.Err, errOops)
				}
				assert.Equal(t, s.Objects, len(w.ListNamespace("bad/ns")), "what it has listed stays")
				sinktest.Put(w.of("good"), at("b", 6), "6")
				synctest.Wait()
				assert.Len(t, w.ListNamespace("good/ns"), 2)
				time.Sleep(2 * time.Second) // failures are gathered for one
				w.stop()
				synctest.Wait()
				assert.Equal(t, 1, strings.Count(log.String(), "of a fleet"), log.String())
				assert.Regexp(t, `msg="Clusters of a fleet fail" .* clusters=bad .*`+want, log.String())
				if strings.Contains(want, "panicked") {
					assert.Regexp(t, `msg=Panic .*cluster=bad`, log.String())
				}
			})
		})
	}
}

// TestKeys have the cluster in them, whatever it is called.
func TestKeys(t *testing.T) {
	for _, cluster := range []string{"east", "arn:aws:eks:eu:1:cluster/prod", "a/b/c"} {
		for _, inside := range []index.Key{{Namespace: "shop", Name: "web-0"}, {Name: "node-1"}} {
			key := fleet.Key(cluster, inside.Namespace, inside.Name)
			gotCluster, gotInside := fleet.Split(key)
			assert.Equal(t, cluster, gotCluster)
			assert.Equal(t, inside, gotInside)
		}
	}
	cluster, inside := fleet.Split(index.Key{Namespace: "shop", Name: "web-0"})
	assert.Empty(t, cluster)
	assert.Equal(t, index.Key{Namespace: "shop", Name: "web-0"}, inside)
	assert.Equal(t, "east/shop/web-0", fleet.Key("east", "shop", "web-0").String())
}

// TestInCluster: an object with its cluster is equal to itself, wherever it was made, and
// passes its own methods on.
func TestInCluster(t *testing.T) {
	obj := at("a", 1)
	obj.Finalizers, obj.Generation, obj.Annotations = []string{"f"}, 3, map[string]string{"k": "v"}
	in := fleet.In("east", obj)
	assert.True(t, in == fleet.In("east", obj))
	assert.False(t, in == fleet.In("west", obj))
	assert.False(t, in == fleet.In("east", at("a", 1)))
	assert.Equal(t, fleet.Key("east", "ns", "a"), index.KeyOf(in))
	assert.Equal(t, []any{obj.UID, obj.ResourceVersion, obj.Generation, obj.Labels, obj.Annotations, obj.Finalizers, obj.OwnerReferences, obj.CreationTimestamp, obj.DeletionTimestamp},
		[]any{in.GetUID(), in.GetResourceVersion(), in.GetGeneration(), in.GetLabels(), in.GetAnnotations(), in.GetFinalizers(), in.GetOwnerReferences(), in.GetCreationTimestamp(), in.GetDeletionTimestamp()})
	assert.Equal(t, "east/ns/a", in.String())
	var zero inCluster
	assert.Empty(t, zero.Cluster()+zero.Namespace()+zero.GetNamespace())
	assert.Equal(t, "/", zero.String())
}

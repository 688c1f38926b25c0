package shard

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/source"
)

// partsSource runs the parts of a Source by hand: it passes them on once they have their sink.
type partsSource struct {
	*Source[*corev1.ConfigMap]
	run chan *parts[*corev1.ConfigMap]
}

func newPartsSource(t *testing.T) partsSource {
	g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a"), WithHash(Key())})
	require.NoError(t, err)
	g.kept = everything
	return partsSource{NewSource(g, func() source.Source[*corev1.ConfigMap] { return nil }), make(chan *parts[*corev1.ConfigMap], 1)}
}

func (s partsSource) Run(ctx context.Context, sink source.Sink[*corev1.ConfigMap]) error {
	p := newParts(s.Source, sink)
	p.follower = &follower{group: s.group, changed: make(chan struct{}, 1)}
	s.run <- p
	<-ctx.Done()
	return nil
}

// labeled follows the objects of a source that have a label, until the test ends.
func labeled[T index.Labeled](t *testing.T, src source.Source[T]) (names func() []string, deleted *[]index.Reason) {
	informer := typed.NewInformer(source.FilterMap(src, func(obj T) (T, bool) { return obj, obj.GetLabels()["in"] != "" }))
	deleted = new([]index.Reason)
	_, err := informer.Handle(typed.HandlerFuncs[T]{DeleteFunc: func(d typed.Deleted[T]) { *deleted = append(*deleted, d.Reason) }})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- informer.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	return func() (names []string) {
		synctest.Wait()
		for key := range informer.Keys() {
			names = append(names, key.Name)
		}
		slices.Sort(names)
		return names
	}, deleted
}

// TestListsLeaveAProjection: an object that a later list, of the part or of another one, has outside
// of a projection is not read any more.
func TestListsLeaveAProjection(t *testing.T) {
	state := func(name, version string, in ...string) *corev1.ConfigMap {
		obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version, Labels: map[string]string{}}}
		for _, label := range in {
			obj.Labels[label] = "yes"
		}
		return obj
	}
	alone := func(t *testing.T, src partsSource) (func() []string, *[]index.Reason) {
		return labeled[*corev1.ConfigMap](t, src)
	}
	inFleet := func(t *testing.T, src partsSource) (func() []string, *[]index.Reason) {
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "east"})
		require.NoError(t, err)
		return labeled(t, fleet.NewSource(clusters, func(fleet.Cluster) source.Source[*corev1.ConfigMap] { return src }))
	}
	for name, test := range map[string]struct {
		follow  func(*testing.T, partsSource) (func() []string, *[]index.Reason)
		another bool
	}{
		"of the part":    {alone, false},
		"of another one": {alone, true},
		"in a fleet":     {inFleet, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := newPartsSource(t)
				read, deleted := test.follow(t, src)
				p := <-src.run
				q := p.follow(t.Context(), false)[0]
				sinktest.Replace(source.Sink[*corev1.ConfigMap](q), "", []*corev1.ConfigMap{state("a", "1", "in"), state("b", "2", "in"), state("c", "3")}, "5")
				require.Equal(t, []string{"a", "b"}, read())

				if test.another {
					q = p.add(t.Context(), everything, ranges{})
				}
				sinktest.Replace(source.Sink[*corev1.ConfigMap](q), "", []*corev1.ConfigMap{state("a", "8"), state("b", "2", "in"), state("c", "3")}, "9")
				assert.Equal(t, []string{"b"}, read())
				assert.Equal(t, []index.Reason{index.Relisted}, *deleted)
				sinktest.Put(source.Sink[*corev1.ConfigMap](q), state("a", "10", "in"), "10")
				assert.Equal(t, []string{"a", "b"}, read(), "it comes again")
			})
		})
	}
}

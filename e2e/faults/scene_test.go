package faults

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/e2e/proxy"
	"github.com/kubetyped/informer/typed/kube"
)

const (
	population = 400 // objects of a scene
	writeRate  = 200 // writes a second
	patience   = 3 * time.Minute
)

// scene is where a fault happens: objects that are written all the time, and
// informers that watch them.
type scene[T history.Object] struct {
	*testing.T

	ctx       context.Context
	objs      objects[T]
	load      *load[T]
	observers []*observer[T]
}

// newScene returns a scene whose objects are there.
func newScene[T history.Object](t *testing.T, objs objects[T]) *scene[T] {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	s := &scene[T]{T: t, ctx: ctx, objs: objs, load: newLoad(ctx, objs, writeRate)}
	s.load.begin(t, population, 1)
	t.Cleanup(s.load.end)
	return s
}

// watch adds one informer that streams its list and speaks protobuf where it can,
// and one that lists and speaks JSON. Once they have synced, the load starts.
func (s *scene[T]) watch(config *rest.Config) {
	s.Helper()
	streaming := rest.CopyConfig(config)
	streaming.ContentType = runtime.ContentTypeProtobuf
	streaming.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	s.observers = append(s.observers,
		observe(s.ctx, s.T, "streaming", s.objs.source(streaming)),
		observe(s.ctx, s.T, "listing", s.objs.source(config, kube.WithoutWatchList())))
	close(s.load.start)
}

// writes waits for n more writes.
func (s *scene[T]) writes(n int) {
	s.Helper()
	enough := s.load.done() + n
	s.until("writes go on", func() bool { return s.load.done() >= enough })
}

// until waits for something.
func (s *scene[T]) until(what string, reached func() bool) {
	s.Helper()
	require.Eventually(s, reached, patience, poll, what)
}

// finish ends the load, compares all observers with the server, and enters the verdict in the
// table.
func (s *scene[T]) finish(fault string, times int) {
	s.Helper()
	s.load.end()
	last, err := s.objs.create(s.ctx, "last")
	require.NoError(s, err)
	want, err := s.objs.list(s.ctx)
	require.NoError(s, err)
	var all verdict
	for _, o := range s.observers {
		all.add(o.judge(s.ctx, s.T, want, last, s.load))
	}
	assert.Empty(s, all.lost, "lost events")
	assert.Empty(s, all.divergent, "divergent objects")
	assert.Greater(s, s.load.done(), population, "something was written meanwhile")
	report.addVerdict(fault, times, len(want), s.load.done(), all)
}

// broken returns a scene of ConfigMaps that are watched through a proxy.
func broken(t *testing.T) (*scene[*corev1.ConfigMap], *proxy.Proxy) {
	t.Helper()
	p, err := proxy.Start(server.Config())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.Close()) })
	s := newScene[*corev1.ConfigMap](t, newConfigMaps(server.Namespace(t)))
	s.watch(p.Config())
	return s, p
}

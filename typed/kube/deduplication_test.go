package kube_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestDeduplication: identical parts of objects are one value, including those of an update and its
// previous state. Sources do not deduplicate where a function may modify objects.
func TestDeduplication(t *testing.T) {
	t.Parallel()
	same := func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil }
	for name, test := range map[string]struct {
		informer func(*apitest.Server) *typed.Informer[*corev1.Pod]
		shared   bool
		told     bool // the log says that they do not share
	}{
		"by default": {func(srv *apitest.Server) *typed.Informer[*corev1.Pod] {
			return typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config()))
		}, true, false},
		"from namespaces": {func(srv *apitest.Server) *typed.Informer[*corev1.Pod] {
			namespaces := source.NewNamespaces("default")
			return typed.NewInformer(source.FromNamespaces(namespaces, func(namespace string) source.Source[*corev1.Pod] {
				return kube.FromREST[*corev1.Pod](srv.Config(), kube.WithNamespace(namespace))
			}))
		}, true, false},
		"without": {func(srv *apitest.Server) *typed.Informer[*corev1.Pod] {
			return typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config(), kube.WithoutDeduplication()))
		}, false, false},
		"with a transform": {func(srv *apitest.Server) *typed.Informer[*corev1.Pod] {
			return typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config()), typed.WithTransform(same))
		}, false, true},
		"with a projection": {func(srv *apitest.Server) *typed.Informer[*corev1.Pod] {
			return typed.NewInformer(source.Map(kube.FromREST[*corev1.Pod](srv.Config()), func(pod *corev1.Pod) *corev1.Pod { return pod }))
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := apitest.Start(t)
			require.NoError(t, srv.Create(t.Context(), tolerant("a")))
			pods := test.informer(srv)
			logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(2)))
			ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
			var running sync.WaitGroup
			running.Go(func() { assert.NoError(t, pods.Run(ctx)) })
			t.Cleanup(func() {
				cancel()
				running.Wait()
				log := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
				assert.Equal(t, test.told, strings.Contains(log, "Deduplication is off"), log)
			})
			require.NoError(t, pods.WaitForSync(ctx))
			for _, name := range []string{"b", "c", "d"} { // one after the other: several are decoded at once
				require.NoError(t, srv.Create(ctx, tolerant(name)))
				require.NoError(t, pods.WaitForResourceVersion(ctx, srv.ResourceVersion()))
			}
			toleration := func(name string) *corev1.Toleration {
				pod, ok := pods.Get(index.Key{Namespace: "default", Name: name})
				require.True(t, ok)
				return &pod.Spec.Tolerations[0]
			}
			assert.Equal(t, test.shared, toleration("c") == toleration("d"), "the parts of two objects")
			before := toleration("a")
			update := tolerant("a")
			update.Labels = map[string]string{"changed": "true"}
			require.NoError(t, srv.Update(ctx, update))
			require.NoError(t, pods.WaitForResourceVersion(ctx, srv.ResourceVersion()))
			assert.Equal(t, test.shared, before == toleration("a"), "the parts of two states")
			assert.Equal(t, *before, *toleration("a"))
		})
	}
}

// tolerant returns a Pod with a toleration that others have, too.
func tolerant(name string) *corev1.Pod {
	pod := rig.NewPod(name, "")
	pod.Namespace = "default"
	pod.Spec.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}}
	return pod
}

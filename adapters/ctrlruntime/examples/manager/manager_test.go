package main

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubetyped/informer/apitest"
)

// TestBothCountPods: both programs write the number of Pods on Nodes, and follow it.
func TestBothCountPods(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	for name, run := range map[string]program{"before": before, "after": after} {
		t.Run(name, func(t *testing.T) {
			srv := apitest.Start(t)
			require.NoError(t, srv.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, podOn("n", "a"), podOn("n", "b"), podOn("", "c")))
			c, err := client.New(srv.Config(), client.Options{})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- run(ctx, srv.Config(), ctrl.Options{
					Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
					Controller: config.Controller{SkipNameValidation: new(true)},
				})
			}()
			awaitCount := func(want string) {
				require.Eventually(t, func() bool {
					var node corev1.Node
					require.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "n"}, &node))
					return node.Annotations[annotation] == want
				}, time.Minute, 5*time.Millisecond)
			}
			awaitCount("2")
			require.NoError(t, srv.Create(t.Context(), podOn("n", "d")))
			awaitCount("3")
			cancel()
			assert.NoError(t, <-ended)
		})
	}
}

func podOn(node, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
}

package ctrlruntime_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestManagerUnderVirtualTime runs a manager in a bubble, with either cache and
// queue: what is to be reconciled again in ten minutes is, to the nanosecond. It
// serves no metrics and no webhooks: those would wait for sockets.
func TestManagerUnderVirtualTime(t *testing.T) {
	for name, p := range builds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, p, cache.Options{})
				r.ctx = t.Context()
				begun := time.Now()
				reconciled := make(chan time.Duration, 10)
				require.NoError(t, ctrl.NewControllerManagedBy(r.mgr).For(&corev1.ConfigMap{}).WithOptions(r.options(t)).
					Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
						reconciled <- time.Since(begun)
						return reconcile.Result{RequeueAfter: 10 * time.Minute}, nil
					})))
				r.start(t)
				require.NoError(t, r.server.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}))
				first := <-reconciled
				for n := range 6 {
					assert.Equal(t, first+time.Duration(n+1)*10*time.Minute, <-reconciled)
				}
			})
		})
	}
}

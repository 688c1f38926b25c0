package simulation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestCrashesAreLeftOut: crashes are left out that it does not take to fail, although the check
// fails in another life of the process without them.
func TestCrashesAreLeftOut(t *testing.T) {
	define := func(s *Simulation) {
		s.Faults(Crash)
		s.Start("reader", func(ctx context.Context, config *rest.Config) error {
			Always(ctx, "it is early", func(now State) error {
				if now.Elapsed() > 5*time.Minute {
					return errors.New("it is late")
				}
				return nil
			})
			client, err := kubernetes.NewForConfig(config)
			for ; err == nil; time.Sleep(time.Second) {
				_, err = client.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{})
			}
			return nil
		})
	}
	one := attempt(t, define, 1, nil, false)
	require.ErrorContains(t, one.failed, "it is late")
	require.NotContains(t, one.failed.Check, "reader#1)", "it has crashed before")
	p := smallest(t, define, one)
	assert.Empty(t, p.faults)
	next := attempt(t, define, 1, func(plan) plan { return p }, false)
	require.NotNil(t, next.failed)
	assert.Equal(t, "it is early (reader#1)", next.failed.Check)
}

package simulation

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
)

// TestOverlappingFaults: a fault lasts as long as it is to, even if another one of its kind ends
// meanwhile.
func TestOverlappingFaults(t *testing.T) {
	p := &process{}
	isFrozen := func() bool { return p.frozen[back] != nil }
	thawFirst, thawSecond := p.freeze(back), p.freeze(back)
	frozen := p.frozen[back]
	thawFirst()
	assert.True(t, isFrozen())
	thawSecond()
	assert.False(t, isFrozen())
	assert.True(t, isClosed(frozen))
	p.freeze(back)()
	assert.False(t, isFrozen())

	takes := func() time.Duration { return p.takes(rand.New(rand.NewPCG(1, 2))) }
	usual := takes()
	endFirst, endSecond := p.slow(4), p.slow(8)
	assert.Equal(t, 8*usual, takes(), "the slower one counts")
	endSecond()
	assert.Equal(t, 4*usual, takes())
	endSecond = p.slow(2)
	endFirst()
	assert.Equal(t, 2*usual, takes())
	endSecond()
	assert.Equal(t, usual, takes())
}

// TestFreezeStopsAbandonedWrites: they arrive after it, some of them, as in a network.
func TestFreezeStopsAbandonedWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Simulation{}
		s.Start("hasty", func(ctx context.Context, config *rest.Config) error {
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			for ctx.Err() == nil {
				hasty, cancel := context.WithTimeout(ctx, time.Second)
				cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}
				_, _ = client.CoreV1().ConfigMaps("default").Create(hasty, cm, metav1.CreateOptions{})
				cancel()
			}
			return nil
		})
		w, err := newWorld(plan{seed: 1}, s, false)
		require.NoError(t, err)
		p := w.processes[0]
		stored := func() int {
			all, err := apitest.Objects[*corev1.ConfigMap](w.servers[0].Server)
			require.NoError(t, err)
			return len(all)
		}
		thaw := p.freeze(towards)
		p.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Zero(t, stored())
		l := p.present()
		l.cancel()
		w.await(l)
		thaw()
		synctest.Wait()
		assert.NotZero(t, stored(), "on their way, though nothing waits for them")
		require.NoError(t, w.stop())
	})
}

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/simulation"
)

// simulated returns what runs the controller in a simulation, among others that elect a
// leader with it, set up by the functions.
func simulated(identity string, setup ...func(*controller)) func(ctx context.Context, config *rest.Config) error {
	return func(ctx context.Context, config *rest.Config) error {
		c, err := newController(config)
		if err != nil {
			return err
		}
		for _, f := range setup {
			f(c)
		}
		elector, err := newElector(config, "default", identity)
		if err != nil {
			return err
		}
		return c.run(ctx, 2, elector)
	}
}

// useConfigMaps is what users do: they ask for Pods, for more or fewer, and change their
// minds.
func useConfigMaps(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
	maps, name := client.CoreV1().ConfigMaps("default"), fmt.Sprint("web-", random.IntN(3))
	var err error
	switch wanted := asking(name, strconv.Itoa(random.IntN(4))); random.IntN(3) {
	case 0:
		_, err = maps.Create(ctx, wanted, metav1.CreateOptions{})
	case 1:
		_, err = maps.Update(ctx, wanted, metav1.UpdateOptions{})
	case 2:
		err = maps.Delete(ctx, name, metav1.DeleteOptions{})
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// podsByOwner counts the Pods of each ConfigMap.
func podsByOwner(now simulation.State) map[string]int {
	count := map[string]int{}
	for _, pod := range simulation.Objects[*corev1.Pod](now) {
		count[string(metav1.GetControllerOfNoCopy(pod).UID)]++
	}
	return count
}

// TestSimulation: whatever goes wrong with two instances, their servers and the network,
// each ConfigMap has the Pods that it asks for in the end, and no others are left.
func TestSimulation(t *testing.T) {
	simulation.Run(t, func(s *simulation.Simulation) {
		s.Start("one", simulated("one"))
		s.Start("two", simulated("two"))
		s.Do(useConfigMaps)
		s.Eventually("each ConfigMap has its Pods", 30*time.Minute, func(now simulation.State) error {
			have := podsByOwner(now)
			for _, owner := range simulation.Objects[*corev1.ConfigMap](now) {
				if want := owner.Data["replicas"]; strconv.Itoa(have[string(owner.UID)]) != want {
					return fmt.Errorf("%s asks for %s Pods, and has %d", owner.Name, want, have[string(owner.UID)])
				}
				delete(have, string(owner.UID))
			}
			if len(have) > 0 {
				return fmt.Errorf("there are Pods of ConfigMaps that are gone: %v", have)
			}
			return nil
		})
	})
}

// TestSimulationFindsABug puts one in: the controller reads its informer before the watch has
// brought what it has written, and creates Pods twice.
func TestSimulationFindsABug(t *testing.T) {
	define := func(setup ...func(*controller)) func(*simulation.Simulation) {
		return func(s *simulation.Simulation) {
			s.Start("one", simulated("one", setup...))
			s.Do(useConfigMaps)
			// Not those by which a controller does not learn what has become of a write.
			s.Faults(simulation.Cut, simulation.Slow, simulation.Held)
			s.Always("no ConfigMap has more Pods than one can ask for", func(now simulation.State) error {
				for owner, n := range podsByOwner(now) {
					if n > 3 {
						return fmt.Errorf("%s has %d", owner, n)
					}
				}
				return nil
			})
		}
	}
	assert.Nil(t, simulation.Find(t, 5, define()))
	found := simulation.Find(t, 100, define(forgetful))
	require.NotNil(t, found)
	t.Log(found)
}

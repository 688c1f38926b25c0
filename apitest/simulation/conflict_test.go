package simulation_test

import (
	"context"
	"errors"
	"flag"
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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
)

// copying returns what runs a controller that copies a value of each ConfigMap in the
// namespace shop to one of the same name in the namespace copies, which it does not watch.
// Where it swallows conflicts, it takes them for done.
func copying(swallows bool) func(ctx context.Context, config *rest.Config) error {
	return func(ctx context.Context, config *rest.Config) error {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		q, err := queue.NewWorkQueue[index.Key]()
		if err != nil {
			return err
		}
		owners := typed.NewInformer(kube.FromClient(client.CoreV1().ConfigMaps("shop")))
		if _, err := owners.Handle(control.Enqueue[*corev1.ConfigMap](q)); err != nil {
			return err
		}
		copies := client.CoreV1().ConfigMaps("copies")
		return control.Run(ctx, control.WithInformers(owners), control.WithWorkers(q, 2, func(ctx context.Context, key index.Key) error {
			owner, ok := owners.Get(key)
			if !ok {
				return nil
			}
			has, err := copies.Get(ctx, key.Name, metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err):
				_, err = copies.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: key.Name}, Data: owner.Data}, metav1.CreateOptions{})
			case err == nil:
				has.Data = owner.Data
				_, err = copies.Update(ctx, has, metav1.UpdateOptions{})
			}
			if swallows && apierrors.IsConflict(err) {
				return nil
			}
			return err
		}))
	}
}

// writeBoth is what users do: they change values, and label copies.
func writeBoth(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
	name := fmt.Sprint("app-", random.IntN(2))
	if random.IntN(2) == 0 {
		has, err := client.CoreV1().ConfigMaps("copies").Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			has.Labels = map[string]string{"by": strconv.Itoa(random.IntN(1e6))}
			_, err = client.CoreV1().ConfigMaps("copies").Update(ctx, has, metav1.UpdateOptions{})
		}
		return ignore(err)
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": strconv.Itoa(random.IntN(1e6))}}
	_, err := client.CoreV1().ConfigMaps("shop").Update(ctx, owner, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = client.CoreV1().ConfigMaps("shop").Create(ctx, owner, metav1.CreateOptions{})
	}
	return err
}

func ignore(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func copied(now simulation.State) error {
	values := map[string]string{}
	for _, m := range simulation.Objects[*corev1.ConfigMap](now) {
		if m.Namespace == "copies" {
			values[m.Name] = m.Data["value"]
		}
	}
	for _, m := range simulation.Objects[*corev1.ConfigMap](now) {
		if m.Namespace == "shop" && values[m.Name] != m.Data["value"] {
			return fmt.Errorf("%s has %s, and its copy %s", m.Name, m.Data["value"], values[m.Name])
		}
	}
	return nil
}

// TestSwallowedConflict: the seeds that there are by default find a controller that takes a
// conflict for done, and none that tries again.
func TestSwallowedConflict(t *testing.T) {
	t.Parallel()
	define := func(swallows bool) func(*simulation.Simulation) {
		return func(s *simulation.Simulation) {
			s.Start("copies", copying(swallows))
			s.Do(writeBoth)
			s.Eventually("each ConfigMap has its copy", 30*time.Minute, copied)
		}
	}
	assert.Nil(t, simulation.Find(t, 3, define(false)))
	seeds, err := strconv.ParseUint(flag.Lookup("simulation.seeds").DefValue, 10, 64)
	require.NoError(t, err)
	found := simulation.Find(t, seeds, define(true))
	require.NotNil(t, found)
	assert.Equal(t, "each ConfigMap has its copy", found.Check)
}

// thing is a custom resource.
type thing struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Size int `json:"size"`
	} `json:"spec"`
}

// TestDoWith: users write custom resources with their own client.
func TestDoWith(t *testing.T) {
	t.Parallel()
	things := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
	var written int
	assert.Nil(t, simulation.Find(t, 1, func(s *simulation.Simulation) {
		s.Servers(apitest.WithResources(apitest.Resource{GroupVersionResource: things, Kind: "Thing"}))
		s.Start("reader", func(ctx context.Context, config *rest.Config) error {
			return typed.NewInformer(kube.FromREST[*thing](config, kube.WithResource(things))).Run(ctx)
		})
		s.DoWith(func(ctx context.Context, config *rest.Config, random *rand.Rand) error {
			w, err := kube.NewWriter[*thing](config, kube.WithResource(things))
			if err != nil {
				return err
			}
			obj := &thing{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", GenerateName: "thing-"}}
			obj.Spec.Size = random.IntN(5)
			written++
			_, err = w.Create(ctx, obj, metav1.CreateOptions{})
			return err
		})
		s.Eventually("users have written", time.Minute, func(simulation.State) error {
			if written == 0 {
				return errors.New("nothing")
			}
			return nil
		})
	}))
	assert.Positive(t, written)
}

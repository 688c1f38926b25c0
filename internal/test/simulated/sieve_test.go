package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
)

// The three classes of bugs that Sieve looks for in controllers (Sun et al., "Automatic
// Reliability Testing for Cluster Management Controllers", OSDI 2022): to act on the
// past, to rely on having seen each state, and to crash between two writes. Each is here
// as a controller with the bug, which has to be found, and one without. All of them keep
// databases: a ConfigMap, and a Pod of the same name that has its data.

// sieveSeeds is in how many seeds a controller with a bug has to be found. It took 1 to 5 of
// them when this was written.
const sieveSeeds = 100

// databases is what the controllers have.
type databases struct {
	client kubernetes.Interface
	owners *typed.Informer[*corev1.ConfigMap]
	data   *typed.Informer[*corev1.Pod]
}

// keep returns what runs a controller of databases. Its first lists may be of the past,
// as those of any informer are that does not stream them.
func keep(reconcile func(d *databases, ctx context.Context, key index.Key) error) func(ctx context.Context, config *rest.Config) error {
	return func(ctx context.Context, config *rest.Config) error {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		q, err := queue.NewWorkQueue[index.Key]()
		if err != nil {
			return err
		}
		d := &databases{
			client: client,
			owners: typed.NewInformer(kube.FromClient(client.CoreV1().ConfigMaps("shop"), kube.WithoutWatchList())),
			data:   typed.NewInformer(kube.FromClient(client.CoreV1().Pods("shop"), kube.WithoutWatchList())),
		}
		_, err1 := d.owners.Handle(control.Enqueue[*corev1.ConfigMap](q))
		_, err2 := d.data.Handle(control.Enqueue[*corev1.Pod](q))
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		return control.Run(ctx, control.WithInformers(d.owners, d.data), control.WithWorkers(q, 1, func(ctx context.Context, key index.Key) error {
			return reconcile(d, ctx, key)
		}))
	}
}

// create creates the data of an owner, unless there are some.
func (d *databases) create(ctx context.Context, owner *corev1.ConfigMap) error {
	_, err := d.client.CoreV1().Pods(owner.Namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: owner.Name, Annotations: map[string]string{"owner": string(owner.UID)},
	}}, metav1.CreateOptions{})
	return except(err, apierrors.IsAlreadyExists)
}

// remove deletes data as they were read, and no others.
func (d *databases) remove(ctx context.Context, data *corev1.Pod) error {
	err := d.client.CoreV1().Pods(data.Namespace).Delete(ctx, data.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(data.UID))})
	return except(err, apierrors.IsNotFound)
}

// update writes an owner as a function changes it.
func (d *databases) update(ctx context.Context, owner *corev1.ConfigMap, change func(*corev1.ConfigMap)) error {
	changed := owner.DeepCopy()
	change(changed)
	_, err := d.client.CoreV1().ConfigMaps(owner.Namespace).Update(ctx, changed, metav1.UpdateOptions{})
	return except(err, apierrors.IsNotFound)
}

const finalizer = "simulated.example.com/data"

// writeDatabases creates and deletes ConfigMaps. Their finalizer blocks the deletion until letGo
// removes it.
func writeDatabases(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
	owners, name := client.CoreV1().ConfigMaps("shop"), fmt.Sprint("db-", random.IntN(2))
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{finalizer}}}
	var err error
	if random.IntN(2) == 0 {
		_, err = owners.Create(ctx, owner, metav1.CreateOptions{})
	} else {
		err = owners.Delete(ctx, name, metav1.DeleteOptions{})
	}
	return except(err, apierrors.IsAlreadyExists, apierrors.IsNotFound)
}

// letGo removes the finalizers of ConfigMaps that are being deleted, as another controller does.
func letGo(ctx context.Context, client kubernetes.Interface, _ *rand.Rand) error {
	owners := client.CoreV1().ConfigMaps("shop")
	list, err := owners.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, owner := range list.Items {
		if owner.DeletionTimestamp != nil {
			owner.Finalizers = nil
			if _, err := owners.Update(ctx, &owner, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// staysWithOwner returns a check: data stay the same as long as their owner is not to go.
func staysWithOwner() func(now simulation.State) error {
	known := map[types.UID]types.UID{} // data by owners
	return func(now simulation.State) error {
		data := map[string]*corev1.Pod{}
		for _, p := range simulation.Objects[*corev1.Pod](now) {
			data[p.Name] = p
		}
		for _, owner := range simulation.Objects[*corev1.ConfigMap](now) {
			p := data[owner.Name]
			switch before := known[owner.UID]; {
			case owner.DeletionTimestamp != nil:
			case before != "" && (p == nil || p.UID != before):
				return fmt.Errorf("the data of %s (%s) are gone", owner.Name, owner.UID)
			case p != nil && p.Annotations["owner"] == string(owner.UID):
				known[owner.UID] = p.UID
			}
		}
		return nil
	}
}

// cleanUp returns what keeps the data of owners until they are to go, and removes them
// then. With the bug it removes what it knows by name.
func cleanUp(byName bool) func(d *databases, ctx context.Context, key index.Key) error {
	return func(d *databases, ctx context.Context, key index.Key) error {
		owner, exists := d.owners.Get(key)
		data, has := d.data.Get(key)
		switch {
		case !exists:
			return nil
		case owner.DeletionTimestamp == nil && !has:
			return d.create(ctx, owner)
		case owner.DeletionTimestamp == nil:
			return nil
		case byName:
			err := d.client.CoreV1().Pods(key.Namespace).Delete(ctx, key.Name, metav1.DeleteOptions{})
			return except(err, apierrors.IsNotFound)
		case has && data.Annotations["owner"] == string(owner.UID):
			return d.remove(ctx, data)
		}
		return nil
	}
}

func TestDeleteOnStaleRead(t *testing.T) {
	sieve(t, "data stay with their owner", func(s *simulation.Simulation, wrong bool) {
		s.Start("databases", keep(cleanUp(wrong)))
		s.Do(writeDatabases)
		s.Do(func(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
			return errors.Join(letGo(ctx, client, random), writeDatabases(ctx, client, random))
		})
		s.Faults(simulation.Travel, simulation.Lag, simulation.Moved, simulation.Crash)
		s.Always("data stay with their owner", staysWithOwner())
	})
}

// collect returns what removes data when their owner goes. With the bug it does so when
// it sees that the owner is about to go, and at no other time.
func collect(onSight bool) func(d *databases, ctx context.Context, key index.Key) error {
	return func(d *databases, ctx context.Context, key index.Key) error {
		owner, exists := d.owners.Get(key)
		data, has := d.data.Get(key)
		switch {
		case exists && owner.DeletionTimestamp == nil && !has:
			return d.create(ctx, owner)
		case !has || onSight && (!exists || owner.DeletionTimestamp == nil):
			return nil
		case !onSight:
			// The cache may be stale. The server knows.
			now, err := d.client.CoreV1().ConfigMaps(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
			switch {
			case except(err, apierrors.IsNotFound) != nil:
				return err
			case err == nil && now.DeletionTimestamp == nil && data.Annotations["owner"] == string(now.UID):
				return nil
			}
		}
		return d.remove(ctx, data)
	}
}

// noneWithoutOwner returns an error if there are data whose owner is gone.
func noneWithoutOwner(now simulation.State) error {
	owners := map[types.UID]bool{}
	for _, owner := range simulation.Objects[*corev1.ConfigMap](now) {
		owners[owner.UID] = true
	}
	for _, p := range simulation.Objects[*corev1.Pod](now) {
		if uid := p.Annotations["owner"]; !owners[types.UID(uid)] {
			return fmt.Errorf("the data %s are of an owner that is gone (%s)", p.Name, uid)
		}
	}
	return nil
}

func TestMissedIntermediateState(t *testing.T) {
	sieve(t, "no data without owner", func(s *simulation.Simulation, wrong bool) {
		s.Start("databases", keep(collect(wrong)))
		s.Do(writeDatabases)
		s.Do(letGo)
		s.Eventually("no data without owner", goal, noneWithoutOwner)
	})
}

// install returns what gives each owner data, and says so in the owner. With the bug it
// says so first, and believes it.
func install(saysFirst bool) func(d *databases, ctx context.Context, key index.Key) error {
	return func(d *databases, ctx context.Context, key index.Key) error {
		owner, exists := d.owners.Get(key)
		if !exists {
			return nil
		}
		installed := owner.Annotations["installed"] == "true"
		say := func() error {
			return d.update(ctx, owner, func(c *corev1.ConfigMap) { c.Annotations = map[string]string{"installed": "true"} })
		}
		if saysFirst {
			if installed {
				return nil
			}
			if err := say(); err != nil {
				return err
			}
			return d.create(ctx, owner)
		}
		if _, has := d.data.Get(key); !has {
			if err := d.create(ctx, owner); err != nil {
				return err
			}
		}
		if installed {
			return nil
		}
		return say()
	}
}

func TestCrashBetweenTwoWrites(t *testing.T) {
	sieve(t, "each owner has data", func(s *simulation.Simulation, wrong bool) {
		s.Start("databases", keep(install(wrong)))
		s.Faults(simulation.Crash, simulation.CrashBeforeWrite, simulation.CrashAfterWrite)
		s.Do(func(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
			owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("db-", random.IntN(10))}}
			_, err := client.CoreV1().ConfigMaps("shop").Create(ctx, owner, metav1.CreateOptions{})
			return except(err, apierrors.IsAlreadyExists)
		})
		s.Eventually("each owner has data", goal, func(now simulation.State) error {
			data := map[string]bool{}
			for _, p := range simulation.Objects[*corev1.Pod](now) {
				data[p.Name] = true
			}
			for _, owner := range simulation.Objects[*corev1.ConfigMap](now) {
				if !data[owner.Name] {
					return fmt.Errorf("%s has none", owner.Name)
				}
			}
			return nil
		})
	})
}

// sieve sees to it that a controller with a bug is found by a check, if there are faults,
// and one without passes.
func sieve(t *testing.T, check string, define func(s *simulation.Simulation, wrong bool)) {
	t.Helper()
	found := simulation.Find(t, sieveSeeds, func(s *simulation.Simulation) { define(s, true) })
	require.NotNil(t, found)
	t.Log("found:", found)
	assert.Equal(t, check, found.Check)
	assert.Nil(t, simulation.Find(t, 10, func(s *simulation.Simulation) {
		define(s, true)
		s.Faults()
	}), "without faults")
	simulation.Run(t, func(s *simulation.Simulation) { define(s, false) })
}

package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"
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

// naming is a controller that gives each ConfigMap as many Pods as it says. It expects
// nothing: what it has written, its informer has at once.
type naming struct {
	client kubernetes.Interface
	owners *typed.Informer[*corev1.ConfigMap]
	pods   *typed.Informer[*corev1.Pod]
	byName *index.Index[index.Key, *corev1.Pod]

	mu      sync.Mutex
	made    map[index.Key]types.UID // guarded by mu; what a create was answered with
	deleted map[types.UID]bool      // guarded by mu; what a delete was answered for
	twice   map[index.Key]types.UID // guarded by mu; it was made, and is made again
	wrong   error                   // guarded by mu; the first
}

// name returns what runs the controller, with own writes or without. Names are computed, or
// generated.
func name(own, generate bool) func(ctx context.Context, config *rest.Config) error {
	return func(ctx context.Context, config *rest.Config) error {
		random, writes := simulation.Random(ctx), kube.NewWrites()
		if random.IntN(2) == 0 {
			config = rest.CopyConfig(config)
			config.ContentType = "application/vnd.kubernetes.protobuf"
		}
		client, err := kubernetes.NewForConfig(writes.Config(config))
		if err != nil {
			return err
		}
		q, err := queue.NewWorkQueue[index.Key]()
		if err != nil {
			return err
		}
		var opts []kube.SourceOption
		if own {
			opts = append(opts, kube.WithWrites(writes))
		}
		in := []string{"", "shop"}[random.IntN(2)]
		n := &naming{
			client: client,
			owners: typed.NewInformer(kube.FromClient(client.CoreV1().ConfigMaps(""))),
			pods:   typed.NewInformer(kube.FromClient(client.CoreV1().Pods(in), opts...)),
			byName: index.Single("owner", func(p *corev1.Pod) (index.Key, bool) { return ownerOf(p), true }),
			made:   map[index.Key]types.UID{}, deleted: map[types.UID]bool{}, twice: map[index.Key]types.UID{},
		}
		_, err1 := n.owners.Handle(control.Enqueue[*corev1.ConfigMap](q))
		_, err2 := n.pods.Handle(control.EnqueueFunc(q, func(p *corev1.Pod) iter.Seq[index.Key] {
			return func(yield func(index.Key) bool) { yield(ownerOf(p)) }
		}))
		if err := errors.Join(err1, err2, n.pods.AddIndexes(n.byName)); err != nil {
			return err
		}
		simulation.Always(ctx, "what was written is read, and not written again", n.check)
		simulation.Eventually(ctx, "the informer has what the server has, and nothing ahead of it", goal, n.compare)
		reconcile := n.computed
		if generate {
			reconcile = n.generated
		}
		return control.Run(ctx, control.WithInformers(n.owners, n.pods), control.WithWorkers(q, 3, reconcile))
	}
}

func ownerOf(p *corev1.Pod) index.Key {
	return index.Key{Namespace: p.Namespace, Name: p.Labels["owner"]}
}

func (n *naming) wanted(owner index.Key) (count int) {
	if obj, ok := n.owners.Get(owner); ok {
		count, _ = strconv.Atoi(obj.Data["replicas"])
	}
	return count
}

// computed makes Pods by names that follow from their owner's.
func (n *naming) computed(ctx context.Context, owner index.Key) error {
	want := n.wanted(owner)
	for i := range mostPods {
		key := index.Key{Namespace: owner.Namespace, Name: fmt.Sprintf("%s-%d", owner.Name, i)}
		p, ok := n.pods.Get(key)
		var err error
		switch {
		case ok && i >= want && p.DeletionTimestamp == nil:
			err = n.remove(ctx, p)
		case !ok && i < want:
			err = n.create(ctx, owner, metav1.ObjectMeta{Name: key.Name})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// generated makes Pods by names that the server generates.
func (n *naming) generated(ctx context.Context, owner index.Key) error {
	want, have := n.wanted(owner), 0
	for p := range n.byName.All(owner) {
		if p.DeletionTimestamp != nil {
			continue
		}
		if have++; have > want {
			if err := n.remove(ctx, p); err != nil {
				return err
			}
		}
	}
	for ; have < want; have++ {
		if err := n.create(ctx, owner, metav1.ObjectMeta{GenerateName: owner.Name + "-"}); err != nil {
			return err
		}
	}
	return nil
}

func (n *naming) create(ctx context.Context, owner index.Key, meta metav1.ObjectMeta) error {
	meta.Labels = map[string]string{"owner": owner.Name}
	key := index.Key{Namespace: owner.Namespace, Name: meta.Name}
	p, err := n.client.CoreV1().Pods(owner.Namespace).Create(ctx, &corev1.Pod{ObjectMeta: meta}, metav1.CreateOptions{})
	n.mu.Lock()
	defer n.mu.Unlock()
	uid, made := n.made[key]
	switch {
	case apierrors.IsAlreadyExists(err) && made:
		n.twice[key] = uid
		return err
	case err != nil:
		delete(n.made, key) // who knows
		return err
	}
	key = index.KeyOf(p)
	n.made[key] = p.UID
	got, ok := n.pods.Get(key)
	if has := ok && !older(got.ResourceVersion, p.ResourceVersion); !has && older(n.pods.ResourceVersion(), p.ResourceVersion) && ctx.Err() == nil {
		n.blame("%s was written at version %s, and is read as %v at version %s", key, p.ResourceVersion, ok, n.pods.ResourceVersion())
	}
	return nil
}

func (n *naming) remove(ctx context.Context, p *corev1.Pod) error {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}}
	err := n.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, options)
	if err != nil {
		return except(err, apierrors.IsNotFound)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.deleted[p.UID] = true
	if got, ok := n.pods.Get(index.KeyOf(p)); ok && got.UID == p.UID && got.DeletionTimestamp == nil && ctx.Err() == nil {
		n.blame("%s was deleted, and is read", index.KeyOf(p))
	}
	return nil
}

// blame notes what is wrong. The caller holds mu.
func (n *naming) blame(format string, args ...any) {
	if n.wrong == nil {
		n.wrong = fmt.Errorf(format, args...)
	}
}

// check returns what is wrong: a Pod was made a second time, though a create was answered with
// it and the server has it still, or one is read that a delete was answered for.
func (n *naming) check(now simulation.State) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range simulation.Objects[*corev1.Pod](now) {
		if uid, ok := n.twice[index.KeyOf(p)]; ok && uid == p.UID && p.DeletionTimestamp == nil {
			n.blame("%s was made, and is made again", index.KeyOf(p))
		}
	}
	clear(n.twice)
	for _, p := range n.pods.List() {
		if n.deleted[p.UID] && p.DeletionTimestamp == nil {
			n.blame("%s was deleted, and is read again", index.KeyOf(p))
		}
	}
	return n.wrong
}

// compare compares the informer with the server.
func (n *naming) compare(now simulation.State) error {
	if ahead := n.pods.Status().Ahead; ahead.Keys > 0 {
		return fmt.Errorf("the informer is ahead of its watch: %v", ahead)
	}
	return sameAsServer(now, "the informer", n.pods.List())
}

// noMore returns an error if a ConfigMap has more Pods than one can ask for.
func noMore(now simulation.State) error {
	_, have := podsOfOwners(now)
	for name, n := range have {
		if n > mostPods {
			return fmt.Errorf("%s has %d Pods", name, n)
		}
	}
	return nil
}

// TestOwnWritesAndComputedNames: a controller with own writes never makes what it has made,
// whatever happens to its watches, its server and its answers; one without is found.
func TestOwnWritesAndComputedNames(t *testing.T) {
	define := func(own bool) func(*simulation.Simulation) {
		return func(s *simulation.Simulation) {
			s.Start("controller", name(own, false))
			s.Do(writeOwners)
			s.Always("no ConfigMap has more Pods than one can ask for", noMore)
			s.Eventually("each ConfigMap has its Pods", patience, scaled)
		}
	}
	simulation.Run(t, define(true))
	found := simulation.Find(t, 100, define(false))
	require.NotNil(t, found, "a controller that reads what its watch has brought")
	assert.Contains(t, found.Check, "what was written is read")
}

// TestOwnWritesAndGeneratedNames: nor does it make two Pods for one by names that the server
// generates, as long as it learns what has become of its writes.
func TestOwnWritesAndGeneratedNames(t *testing.T) {
	define := func(own bool) func(*simulation.Simulation) {
		return func(s *simulation.Simulation) {
			s.Start("controller", name(own, true))
			s.Do(writeOwners)
			s.Faults(delays...)
			s.Always("no ConfigMap has more Pods than one can ask for", noMore)
			s.Eventually("each ConfigMap has its Pods", patience, scaled)
		}
	}
	simulation.Run(t, define(true))
	found := simulation.Find(t, 100, define(false))
	require.NotNil(t, found, "a controller that reads what its watch has brought")
}

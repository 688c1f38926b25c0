package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/kube/election"
)

// mine are the labels of ConfigMaps that ask for Pods, and of those Pods.
var mine = labels.Set{"app.kubernetes.io/managed-by": "kubetyped-example"}

var configMap = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// controller sees to it that each ConfigMap with the labels mine has as many
// Pods as its data say under "replicas".
type controller struct {
	client  kubernetes.Interface
	owners  *typed.Informer[*corev1.ConfigMap]
	pods    *typed.Informer[*corev1.Pod]
	byOwner *index.Index[index.Key, *corev1.Pod]
	queue   *queue.WorkQueue[index.Key] // of owners
	metrics *metrics
	writes  *kube.Writes
	newPod  func(owner *corev1.ConfigMap, name string) *corev1.Pod
}

func newController(config *rest.Config) (*controller, error) {
	writes := kube.NewWrites()
	client, err := kubernetes.NewForConfig(writes.Config(config))
	if err != nil {
		return nil, err
	}
	m := new(metrics)
	q, err := queue.NewWorkQueue[index.Key](queue.WithName("owners"), queue.WithMetrics(m))
	if err != nil {
		return nil, err
	}
	selected := kube.WithLabelSelector(mine.AsSelector())
	c := &controller{
		client: client,
		owners: typed.NewInformer(kube.FromClient(client.CoreV1().ConfigMaps(metav1.NamespaceAll), selected)),
		pods:   typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll), selected, kube.WithWrites(writes))),
		byOwner: index.Single("owner", func(p *corev1.Pod) (index.Key, bool) {
			owner := metav1.GetControllerOfNoCopy(p)
			if owner == nil {
				return index.Key{}, false
			}
			return index.Key{Namespace: p.Namespace, Name: owner.Name}, true
		}),
		queue: q, metrics: m, writes: writes, newPod: newPod,
	}
	return c, c.pods.AddIndexes(c.byOwner)
}

// run waits until it leads, and works until ctx ends and all waiting keys have been processed.
// Informers run from the beginning and outlive the workers, so that these read the present
// state, rather than the state in which the informers stopped.
func (c *controller) run(ctx context.Context, workers int, elector control.Elector) error {
	_, err1 := c.owners.Handle(control.FilterUpdates(control.Enqueue[*corev1.ConfigMap](c.queue), control.ResourceVersionChanged))
	_, err2 := c.pods.Handle(control.EnqueueOwner[*corev1.Pod](c.queue, configMap.GroupKind()))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return control.Run(ctx,
		control.WithInformers(c.owners, c.pods),
		control.WithElector(elector),
		control.WithWorkers(c.queue, workers, c.reconcile))
}

// newElector returns what instances of the controller compete with for the lead.
func newElector(config *rest.Config, namespace, identity string) (control.Elector, error) {
	return election.NewElector(config, namespace, "kubetyped-example", election.WithIdentity(identity))
}

// reconcile gives an owner the Pods that it is to have. Its reads reflect its own earlier
// writes. A Pod whose creation was not answered is not created twice, as its name is computed:
// that is an error until the watch brings it.
func (c *controller) reconcile(ctx context.Context, key index.Key) error {
	want := 0
	owner, exists := c.owners.Get(key)
	if exists && owner.DeletionTimestamp == nil {
		n, err := strconv.ParseUint(owner.Data["replicas"], 10, 16)
		if err != nil {
			return queue.TerminalError(fmt.Errorf("replicas of ConfigMap %s: %w", key, err)) // until it changes
		}
		want = int(n)
	}
	var live, surplus []*corev1.Pod
	names := map[string]bool{}
	for pod := range c.byOwner.All(key) {
		names[pod.Name] = true
		switch {
		case pod.DeletionTimestamp != nil: // it is about to go
		case exists && metav1.IsControlledBy(pod, owner):
			live = append(live, pod)
		default: // its owner is gone, there may be another one of that name
			surplus = append(surplus, pod)
		}
	}
	if len(live) > want {
		slices.SortFunc(live, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
		surplus = append(surplus, live[want:]...)
	}
	pods, logger := c.client.CoreV1().Pods(key.Namespace), klog.FromContext(ctx)
	for n, missing := 0, want-len(live); missing > 0; n++ {
		name := fmt.Sprintf("%s-%d", key.Name, n)
		if names[name] {
			continue
		}
		created, err := pods.Create(ctx, c.newPod(owner, name), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		logger.Info("Created", "pod", klog.KObj(created))
		missing--
	}
	for _, pod := range surplus {
		err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		logger.Info("Deleted", "pod", klog.KObj(pod))
	}
	return nil
}

func newPod(owner *corev1.ConfigMap, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: mine, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, configMap)}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "pause", Image: "registry.k8s.io/pause:3.10"}}},
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// cluster is what the informers are run on.
type cluster struct {
	config *rest.Config
	// about describes it in a line.
	about string
	// fill makes it ready.
	fill func(ctx context.Context) error
	// churn changes objects until ctx ends.
	churn func(ctx context.Context) error
	// version returns a resource version of the Pods that an informer may not
	// have reached yet. origin says how the server came to it.
	version func(ctx context.Context) (string, error)
	origin  string
	// close waits for everything that belongs to it.
	close func() error
}

// open returns the cluster that opts ask for. The caller closes it.
func open(opts options) (*cluster, error) {
	if opts.kubeconfig != "" || opts.context != "" {
		return openReal(opts)
	}
	return openMemory(opts)
}

// openReal returns the cluster of a kubeconfig, from which it only reads.
func openReal(opts options) (*cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = opts.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: opts.context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return &cluster{
		config: config,
		about:  fmt.Sprintf("Cluster at %s, read only", config.Host),
		fill:   func(context.Context) error { return nil },
		churn:  func(context.Context) error { return nil },
		version: func(ctx context.Context) (string, error) {
			version, err := versionOfPods(ctx, config)
			if err != nil {
				return "", fmt.Errorf("ask the server for its version: %w", err)
			}
			return version, nil
		},
		origin: "is at version",
		close:  func() error { return nil },
	}, nil
}

// versionOfPods returns the version at which the server lists Pods.
func versionOfPods(ctx context.Context, config *rest.Config) (string, error) {
	pods := rest.CopyConfig(config)
	pods.APIPath, pods.GroupVersion = "/api", &corev1.SchemeGroupVersion
	pods.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(pods)
	if err != nil {
		return "", err
	}
	list := &corev1.PodList{}
	if err := client.Get().Resource("pods").Param("limit", "1").Do(ctx).Into(list); err != nil {
		return "", err
	}
	return list.ResourceVersion, nil
}

// The workload: Pods of some apps, in namespaces of teams, on Nodes in zones.
const (
	namespaceCount = 10
	nodeCount      = 50
)

var (
	apps  = []string{"auth", "billing", "cart", "catalog", "checkout", "frontend", "mail", "orders", "payments", "search", "shipping", "stock"}
	zones = []string{"zone-a", "zone-b", "zone-c"}
)

// openMemory starts a server in memory.
func openMemory(opts options) (*cluster, error) {
	srv, err := apitest.NewServer()
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	config := srv.Config()
	writer, err := kube.NewWriter[*corev1.Pod](config)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a writer: %w", err), srv.Close())
	}
	w := &workload{srv: srv, rate: opts.rate, want: opts.pods, random: rand.New(rand.NewPCG(1, 2))}
	return &cluster{
		config: config,
		about: fmt.Sprintf("API server in memory: %s Pods in %d namespaces on %d Nodes, %s changes/s",
			grouped(opts.pods), namespaceCount, nodeCount, grouped(opts.rate)),
		fill:  w.fill,
		churn: w.churn,
		version: func(ctx context.Context) (string, error) {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"quickstart/written":%q}}}`, time.Now().Format(time.RFC3339Nano))
			pod, err := writer.Patch(ctx, index.KeyOf(w.first), types.MergePatchType, patch, metav1.PatchOptions{})
			if err != nil {
				return "", fmt.Errorf("write an annotation: %w", err)
			}
			return pod.ResourceVersion, nil
		},
		origin: "has written an annotation, version",
		close:  srv.Close,
	}, nil
}

// workload is the content of a server, and changes it.
type workload struct {
	srv    *apitest.Server
	rate   int // changes a second
	want   int // Pods
	random *rand.Rand

	created int           // Pods so far, for their names
	first   *corev1.Pod   // is left alone, for others to write to
	pods    []*corev1.Pod // all others, as the server has them
}

// fill creates all objects.
func (w *workload) fill(ctx context.Context) error {
	for i := range nodeCount {
		if err := w.srv.Create(ctx, newNode(i)); err != nil {
			return fmt.Errorf("create a Node: %w", err)
		}
	}
	w.first = w.newPod()
	if err := w.srv.Create(ctx, w.first); err != nil {
		return fmt.Errorf("create a Pod: %w", err)
	}
	for range w.want - 1 {
		if err := w.create(ctx, corev1.PodRunning); err != nil {
			return err
		}
	}
	return nil
}

// churn changes Pods at a steady rate until ctx ends.
func (w *workload) churn(ctx context.Context) error {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	begin, done := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			for ; done < int(now.Sub(begin).Seconds()*float64(w.rate)); done++ {
				if err := w.change(ctx); err != nil && ctx.Err() == nil {
					return fmt.Errorf("change the workload: %w", err)
				}
			}
		}
	}
}

// change makes one change: mostly of a status, sometimes of labels, and about
// one in six is a creation or a deletion, which keep each other in balance.
func (w *workload) change(ctx context.Context) error {
	if len(w.pods) == 0 {
		return w.create(ctx, corev1.PodPending)
	}
	at := w.random.IntN(len(w.pods))
	pod := w.pods[at]
	switch dice := w.random.IntN(100); {
	case dice < 16 && w.random.IntN(2*w.want) >= len(w.pods): // about half of them
		return w.create(ctx, corev1.PodPending)
	case dice < 16:
		w.pods[at] = w.pods[len(w.pods)-1]
		w.pods = w.pods[:len(w.pods)-1]
		return w.srv.Delete(ctx, pod)
	case dice < 30:
		pod.Labels["version"] = "1." + strconv.Itoa(w.random.IntN(20))
	case pod.Status.Phase == corev1.PodPending, dice < 35:
		setPhase(pod, nextPhase[pod.Status.Phase])
	default:
		pod.Status.ContainerStatuses[0].RestartCount++
	}
	return w.srv.Update(ctx, pod)
}

func (w *workload) create(ctx context.Context, phase corev1.PodPhase) error {
	pod := w.newPod()
	setPhase(pod, phase)
	if err := w.srv.Create(ctx, pod); err != nil {
		return fmt.Errorf("create a Pod: %w", err)
	}
	w.pods = append(w.pods, pod)
	return nil
}

// nextPhase is what a Pod goes through.
var nextPhase = map[corev1.PodPhase]corev1.PodPhase{
	corev1.PodPending: corev1.PodRunning,
	corev1.PodRunning: corev1.PodFailed,
	corev1.PodFailed:  corev1.PodRunning,
}

func setPhase(pod *corev1.Pod, phase corev1.PodPhase) {
	ready := corev1.ConditionFalse
	if phase == corev1.PodRunning {
		ready = corev1.ConditionTrue
	}
	now := metav1.Now().Rfc3339Copy()
	pod.Status = corev1.PodStatus{
		Phase:  phase,
		HostIP: "192.0.2.1",
		PodIP:  "198.51.100.1",
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: corev1.PodReady, Status: ready, LastTransitionTime: now},
		},
		ContainerStatuses: []corev1.ContainerStatus{
			{Name: pod.Labels["app"], Image: pod.Spec.Containers[0].Image, Ready: phase == corev1.PodRunning},
		},
	}
}

func newNode(i int) *corev1.Node {
	name := fmt.Sprintf("node-%02d", i)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname:     name,
			corev1.LabelTopologyZone: zones[i%len(zones)],
		}},
		Status: corev1.NodeStatus{
			Capacity: corev1.ResourceList{
				corev1.ResourceCPU:    resource.MustParse("16"),
				corev1.ResourceMemory: resource.MustParse("64Gi"),
			},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

// newPod returns a Pod of some app on some Node, with the fields that most have.
func (w *workload) newPod() *corev1.Pod {
	app := apps[w.random.IntN(len(apps))]
	w.created++
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http")},
	}}
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   fmt.Sprintf("team-%d", w.random.IntN(namespaceCount)),
			Name:        fmt.Sprintf("%s-%05d", app, w.created),
			Labels:      map[string]string{"app": app, "version": "1.0"},
			Annotations: map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "9090"},
		},
		Spec: corev1.PodSpec{
			NodeName:           fmt.Sprintf("node-%02d", w.random.IntN(nodeCount)),
			ServiceAccountName: app,
			Containers: []corev1.Container{{
				Name:  app,
				Image: "registry.example/" + app + ":1.0",
				Args:  []string{"--listen=:8080", "--log-format=json"},
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
				Env: []corev1.EnvVar{
					{Name: "POD_NAME", ValueFrom: field("metadata.name")},
					{Name: "POD_NAMESPACE", ValueFrom: field("metadata.namespace")},
				},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{
						corev1.ResourceCPU:    resource.MustParse("100m"),
						corev1.ResourceMemory: resource.MustParse("128Mi"),
					},
					Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
				},
				LivenessProbe:  probe,
				ReadinessProbe: probe,
				VolumeMounts:   []corev1.VolumeMount{{Name: "config", MountPath: "/etc/" + app, ReadOnly: true}},
			}},
			Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: app}},
			}}},
		},
	}
}

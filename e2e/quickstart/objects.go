package main

import (
	"fmt"
	"hash/fnv"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// The labels are those that Kubernetes recommends, and the ones of its own.
const (
	appLabel      = "app.kubernetes.io/name"
	versionLabel  = "app.kubernetes.io/version"
	tierLabel     = "tier"
	hostnameLabel = corev1.LabelHostname
	zoneLabel     = corev1.LabelTopologyZone
)

// The applications of every namespace, and the zones that the Nodes are in.
var (
	apps  = []string{"auth", "billing", "cart", "catalog", "checkout", "frontend", "mail", "orders", "payments", "search", "shipping", "stock"}
	tiers = []string{"web", "service", "batch"}
	zones = []string{"zone-a", "zone-b", "zone-c"}
)

func (w workload) namespaceName(i int) string { return fmt.Sprintf("team-%02d", i%w.namespaces) }

func (w workload) nodeName(i int) string { return fmt.Sprintf("node-%03d", i%w.nodes) }

// node returns the Node of number i.
func (w workload) node(i int) *corev1.Node {
	name := w.nodeName(i)
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   name,
		Labels: map[string]string{hostnameLabel: name, zoneLabel: zones[i%len(zones)]},
	}}
}

// pod returns the Pod of number i: always the same for the same workload, and
// different ones for the client to own.
func (w workload) pod(i int) *corev1.Pod {
	// Not i itself: its remainders for namespace, node and app would go
	// together.
	spread := spreadOf(i)
	app := apps[spread%len(apps)]
	labels := map[string]string{
		appLabel:            app,
		versionLabel:        "1.0.0",
		tierLabel:           tiers[spread%len(tiers)],
		"pod-template-hash": hashOf(app),
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespaceName(i),
			Name:      fmt.Sprintf("%s-%s-%05d", app, hashOf(app), i),
			Labels:    labels,
			Annotations: map[string]string{
				"prometheus.io/scrape": "true",
				"prometheus.io/port":   "9090",
			},
		},
		Spec: corev1.PodSpec{
			NodeName:                     w.nodeName(spread / len(apps)),
			AutomountServiceAccountToken: ptr.To(false),
			Containers: []corev1.Container{
				container(app, 8080),
				container("proxy", 15000),
			},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: app},
				}}},
				{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
			TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
				MaxSkew:           1,
				TopologyKey:       zoneLabel,
				WhenUnsatisfiable: corev1.ScheduleAnyway,
				LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: app}},
			}},
		},
	}
}

// container returns a container with the fields that most have.
func container(name string, port int32) corev1.Container {
	probe := &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(port)}},
	}
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	return corev1.Container{
		Name:  name,
		Image: "registry.example/" + name + ":1.0.0",
		Args:  []string{"--listen=:" + strconv.Itoa(int(port)), "--log-format=json"},
		Ports: []corev1.ContainerPort{{Name: name, ContainerPort: port}, {Name: name + "-stats", ContainerPort: port + 1}},
		Env: []corev1.EnvVar{
			{Name: "POD_NAME", ValueFrom: field("metadata.name")},
			{Name: "POD_NAMESPACE", ValueFrom: field("metadata.namespace")},
			{Name: "NODE_NAME", ValueFrom: field("spec.nodeName")},
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
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: "/etc/" + name, ReadOnly: true},
			{Name: "cache", MountPath: "/var/cache/" + name},
		},
	}
}

// spreadOf returns a number that looks random and is always the same for i.
func spreadOf(i int) int {
	hash := fnv.New32a()
	fmt.Fprint(hash, i)
	return int(hash.Sum32() >> 1)
}

// hashOf returns ten characters, as those that a Deployment puts into the names
// of its Pods.
func hashOf(app string) string {
	hash := fnv.New64a()
	fmt.Fprint(hash, app)
	return strconv.FormatUint(hash.Sum64(), 36)[:10]
}

package workload

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// Pod returns the Pod of number i.
func (o Objects) Pod(i int) *corev1.Pod {
	meta, app := o.meta(i)
	meta.Labels["pod-template-hash"] = hashOf(app)
	meta.Annotations = map[string]string{
		"prometheus.io/scrape": "true",
		"prometheus.io/port":   "9090",
	}
	pod := &corev1.Pod{
		ObjectMeta: meta,
		Spec: corev1.PodSpec{
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
				TopologyKey:       corev1.LabelTopologyZone,
				WhenUnsatisfiable: corev1.ScheduleAnyway,
				LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{AppLabel: app}},
			}},
		},
	}
	if o.Nodes > 0 {
		pod.Spec.NodeName = o.nodeName(spreadOf(i) / len(apps))
	} else {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/nowhere"}}
	}
	return pod
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

package pods

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// tokenPath is where containers find the token of their Pod.
const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount"

func (p pod) spec() corev1.PodSpec {
	spec := corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: new(int64(30)),
		DNSPolicy:                     corev1.DNSClusterFirst,
		ServiceAccountName:            p.app.name(),
		DeprecatedServiceAccount:      p.app.name(),
		SecurityContext:               &corev1.PodSecurityContext{},
		SchedulerName:                 corev1.DefaultSchedulerName,
		Priority:                      new(int32(0)),
		PreemptionPolicy:              new(corev1.PreemptLowerPriority),
		EnableServiceLinks:            new(true),
		Tolerations: []corev1.Toleration{
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))},
			{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))},
		},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: p.app.name()}, DefaultMode: new(int32(420)),
			}}},
			{Name: p.token(), VolumeSource: corev1.VolumeSource{Projected: tokenVolume()}},
		},
	}
	for i, name := range p.containers() {
		spec.Containers = append(spec.Containers, p.container(i, name))
	}
	return spec
}

// tokenVolume is the volume that Kubernetes adds to every Pod.
func tokenVolume() *corev1.ProjectedVolumeSource {
	return &corev1.ProjectedVolumeSource{DefaultMode: new(int32(420)), Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(int64(3607))}},
		{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
			Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
		}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}},
		}}},
	}}
}

// container returns container number i of a Pod.
func (p pod) container(i int, name string) corev1.Container {
	port := int32(8080 + 100*i)
	return corev1.Container{
		Name:  name,
		Image: p.image(name),
		Args:  []string{"--config=/etc/" + p.app.name() + "/config.yaml", fmt.Sprintf("--listen=:%d", port)},
		Ports: []corev1.ContainerPort{{Name: "http-" + name, ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		Env:   p.env(name),
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(50*(1+(p.number+i)%8)), resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(int64(64<<20*(1+(p.number+i)%6)), resource.BinarySI),
			},
			Limits: corev1.ResourceList{
				corev1.ResourceMemory: *resource.NewQuantity(int64(128<<20*(1+(p.number+i)%6)), resource.BinarySI),
			},
		},
		VolumeMounts:             p.mounts(name),
		ReadinessProbe:           probe("/readyz", port),
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		ImagePullPolicy:          corev1.PullIfNotPresent,
	}
}

// mounts returns what is mounted in a container: its configuration, in the server,
// and the token.
func (p pod) mounts(container string) []corev1.VolumeMount {
	token := corev1.VolumeMount{Name: p.token(), ReadOnly: true, MountPath: tokenPath}
	if container != server {
		return []corev1.VolumeMount{token}
	}
	return []corev1.VolumeMount{{Name: "config", ReadOnly: true, MountPath: "/etc/" + p.app.name()}, token}
}

// env returns the variables of a container: the server has a name, a password and
// a setting of its application.
func (p pod) env(container string) []corev1.EnvVar {
	if container != server {
		return nil
	}
	return []corev1.EnvVar{
		{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
		{Name: "UPSTREAM", Value: AppName(p.number+1) + ".shop.svc.cluster.local:8080"},
		{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: p.app.name()}, Key: "password",
		}}},
	}
}

func probe(path string, port int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTP}},
		TimeoutSeconds:   1,
		PeriodSeconds:    10,
		SuccessThreshold: 1,
		FailureThreshold: 3,
	}
}

package cluster

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// epoch is when everything in the cluster was created.
var epoch = time.Date(2026, time.March, 2, 9, 30, 0, 0, time.UTC)

// podTemplate returns what the Pods of one application have in common, which is
// nearly all of a Pod: the specification, the status of its containers, and who
// manages which field. Applications differ in the number of their containers
// and variables, so that Pods are of different sizes.
func podTemplate(app int) *corev1.Pod {
	name := appName(app)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:      name + "-" + templateHash(app) + "-",
			CreationTimestamp: metav1.NewTime(epoch),
			Annotations: map[string]string{
				"kubectl.kubernetes.io/restartedAt": epoch.Format(time.RFC3339),
				"prometheus.io/scrape":              "true",
				"prometheus.io/port":                "9090",
				"checksum/config":                   fmt.Sprintf("%064x", splitmix(uint64(app))),
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-" + templateHash(app),
				UID: uidOf(1<<40 + app), Controller: new(true), BlockOwnerDeletion: new(true),
			}},
			ManagedFields: managedFields(name),
		},
		Spec:   podSpec(app, name),
		Status: podStatus(app, name),
	}
}

func podSpec(app int, name string) corev1.PodSpec {
	spec := corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: new(int64(30)),
		DNSPolicy:                     corev1.DNSClusterFirst,
		ServiceAccountName:            name,
		DeprecatedServiceAccount:      name,
		SecurityContext:               &corev1.PodSecurityContext{RunAsNonRoot: new(true), FSGroup: new(int64(65532))},
		SchedulerName:                 corev1.DefaultSchedulerName,
		Priority:                      new(int32(0)),
		PreemptionPolicy:              new(corev1.PreemptLowerPriority),
		EnableServiceLinks:            new(true),
		Tolerations: []corev1.Toleration{
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))},
			{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))},
		},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}, DefaultMode: new(int32(420))}}},
			{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("1Gi"))}}},
			{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{Projected: tokenVolume()}},
		},
	}
	for i := range containersOf(app) {
		spec.Containers = append(spec.Containers, container(app, i, name))
	}
	return spec
}

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

func container(app, i int, name string) corev1.Container {
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{
			ProbeHandler:     corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP}},
			TimeoutSeconds:   1,
			PeriodSeconds:    10,
			SuccessThreshold: 1,
			FailureThreshold: 3,
		}
	}
	c := corev1.Container{
		Name:    containerName(i),
		Image:   imageOf(name, i),
		Command: []string{"/usr/local/bin/" + name},
		Args:    []string{"serve", "--config=/etc/" + name + "/config.yaml", "--log-format=json", "--shutdown-timeout=25s"},
		Ports: []corev1.ContainerPort{
			{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP},
			{Name: "metrics", ContainerPort: 9090, Protocol: corev1.ProtocolTCP},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("512Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", ReadOnly: true, MountPath: "/etc/" + name},
			{Name: "cache", MountPath: "/var/cache/" + name},
			{Name: "kube-api-access", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"},
		},
		LivenessProbe:            probe("/healthz"),
		ReadinessProbe:           probe("/readyz"),
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		ImagePullPolicy:          corev1.PullIfNotPresent,
		SecurityContext:          &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
	}
	for v := range 4 + app%5 {
		c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%02d", v), Value: fmt.Sprintf("%s.%d.svc.cluster.local:5432", name, v)})
	}
	c.Env = append(c.Env,
		corev1.EnvVar{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
		corev1.EnvVar{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "password"}}},
	)
	return c
}

func podStatus(app int, name string) corev1.PodStatus {
	since := metav1.NewTime(epoch.Add(12 * time.Second))
	status := corev1.PodStatus{
		Phase:     corev1.PodRunning,
		StartTime: new(metav1.NewTime(epoch)),
		QOSClass:  corev1.PodQOSBurstable,
	}
	for _, kind := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: since})
	}
	for i := range containersOf(app) {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name:        containerName(i),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
			Ready:       true,
			Started:     new(true),
			Image:       imageOf(name, i),
			ImageID:     fmt.Sprintf("registry.example.com/platform/%s@sha256:%064x", name, splitmix(uint64(app))),
			ContainerID: fmt.Sprintf("containerd://%064x", splitmix(uint64(app+i))),
		})
	}
	return status
}

// containersOf returns how many containers a Pod has: one application in four
// has a proxy beside its server.
func containersOf(app int) int { return 1 + app%4/3 }

func containerName(i int) string { return [...]string{"server", "proxy"}[i] }

func imageOf(name string, i int) string {
	return fmt.Sprintf("registry.example.com/platform/%s-%s:v1.%d.3", name, containerName(i), len(name))
}

// managedFields are those of a Pod that a controller made and a kubelet reports
// on, in the form in which the API server sends them.
func managedFields(name string) []metav1.ManagedFieldsEntry {
	const made = `{"f:metadata":{"f:annotations":{".":{},"f:checksum/config":{},"f:kubectl.kubernetes.io/restartedAt":{},"f:prometheus.io/port":{},"f:prometheus.io/scrape":{}},"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{},"f:tier":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"%s\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"server\"}":{".":{},"f:args":{},"f:command":{},"f:env":{".":{},"k:{\"name\":\"PASSWORD\"}":{".":{},"f:name":{},"f:valueFrom":{".":{},"f:secretKeyRef":{}}},"k:{\"name\":\"POD_NAME\"}":{".":{},"f:name":{},"f:valueFrom":{".":{},"f:fieldRef":{}}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}},"f:periodSeconds":{},"f:successThreshold":{},"f:timeoutSeconds":{}},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:volumeMounts":{".":{},"k:{\"mountPath\":\"/etc/%s\"}":{".":{},"f:mountPath":{},"f:name":{},"f:readOnly":{}}}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:serviceAccountName":{},"f:terminationGracePeriodSeconds":{}}}`
	const reported = `{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{},"f:startTime":{}}}`
	at := metav1.NewTime(epoch)
	return []metav1.ManagedFieldsEntry{
		{
			Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fmt.Sprintf(made, types.UID(uidOf(len(name))), name)),
		},
		{
			Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(reported), Subresource: "status",
		},
	}
}

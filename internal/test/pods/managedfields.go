package pods

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// managedFields are those of a Pod that a controller made, a network plugin gave
// addresses, and a kubelet reports on, in the form in which API servers send them.
func (p pod) managedFields(spec *corev1.PodSpec, version int) []metav1.ManagedFieldsEntry {
	entry := func(manager, subresource, fields string, at time.Time) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: new(metav1.NewTime(at)),
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Subresource: subresource,
		}
	}
	return []metav1.ManagedFieldsEntry{
		entry("kube-controller-manager", "", p.templateFields(spec), p.created()),
		entry("calico", "status", networkFields, p.begun()),
		entry("kubelet", "status", reportedFields(podIP(p.i)), p.reported(version)),
	}
}

const networkFields = `{"f:metadata":{"f:annotations":{"f:cni.projectcalico.org/containerID":{},"f:cni.projectcalico.org/podIP":{},"f:cni.projectcalico.org/podIPs":{}}}}`

// reportedFields are those that a kubelet owns in a Pod of an address.
func reportedFields(ip string) string {
	var conditions []string
	for _, kind := range []corev1.PodConditionType{corev1.ContainersReady, corev1.PodInitialized, corev1.PodReady, corev1.PodReadyToStartContainers} {
		conditions = append(conditions, fmt.Sprintf(`"k:{\"type\":\"%s\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}`, kind))
	}
	return fmt.Sprintf(`{"f:status":{"f:conditions":{%s},"f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"%s\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}`,
		strings.Join(conditions, ","), ip)
}

// templateFields are those that a ReplicaSet makes, the same for all its Pods. The containers
// next to the server, and the volume with the token, are injected on the way into the cluster,
// and the injector owns no fields.
func (a app) templateFields(spec *corev1.PodSpec) string {
	return fmt.Sprintf(`{"f:metadata":{"f:annotations":{".":{},"f:prometheus.io/scrape":{}},"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{},"f:tier":{},"f:version":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"%s\"}":{}}},"f:spec":{"f:containers":{%s},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:serviceAccount":{},"f:serviceAccountName":{},"f:terminationGracePeriodSeconds":{},"f:volumes":{".":{},"k:{\"name\":\"config\"}":{".":{},"f:configMap":{".":{},"f:defaultMode":{},"f:name":{}},"f:name":{}}}}}`,
		uid(a.random(ofUID)), containerFields(&spec.Containers[0]))
}

// containerFields are those of a container of the template.
func containerFields(c *corev1.Container) string {
	const probe = `{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}},"f:periodSeconds":{},"f:successThreshold":{},"f:timeoutSeconds":{}}`
	var env []string
	for _, v := range c.Env {
		from := "value"
		if v.ValueFrom != nil {
			from = "valueFrom"
		}
		env = append(env, fmt.Sprintf(`"k:{\"name\":\"%s\"}":{".":{},"f:name":{},"f:%s":{}}`, v.Name, from))
	}
	slices.Sort(env)
	return fmt.Sprintf(`"k:{\"name\":\"%s\"}":{".":{},"f:args":{},"f:env":{".":{},%s},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":%d,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},"f:readinessProbe":%s,"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{},"f:volumeMounts":{".":{},"k:{\"mountPath\":\"%s\"}":{".":{},"f:mountPath":{},"f:name":{},"f:readOnly":{}}}}`,
		c.Name, strings.Join(env, ","), c.Ports[0].ContainerPort, probe, c.VolumeMounts[0].MountPath)
}

package informers

import (
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	admissionregistrationv1 "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	appsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	autoscalingv1 "k8s.io/client-go/kubernetes/typed/autoscaling/v1"
	autoscalingv2 "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	batchv1 "k8s.io/client-go/kubernetes/typed/batch/v1"
	certificatesv1 "k8s.io/client-go/kubernetes/typed/certificates/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	discoveryv1 "k8s.io/client-go/kubernetes/typed/discovery/v1"
	eventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	flowcontrolv1 "k8s.io/client-go/kubernetes/typed/flowcontrol/v1"
	networkingv1 "k8s.io/client-go/kubernetes/typed/networking/v1"
	nodev1 "k8s.io/client-go/kubernetes/typed/node/v1"
	policyv1 "k8s.io/client-go/kubernetes/typed/policy/v1"
	rbacv1 "k8s.io/client-go/kubernetes/typed/rbac/v1"
	resourcev1 "k8s.io/client-go/kubernetes/typed/resource/v1"
	schedulingv1 "k8s.io/client-go/kubernetes/typed/scheduling/v1"
	storagev1 "k8s.io/client-go/kubernetes/typed/storage/v1"
	storagemigrationv1 "k8s.io/client-go/kubernetes/typed/storagemigration/v1"
)

// kindTable is all kinds that are served by the typed core.
type kindTable struct {
	byType     map[reflect.Type]kind
	byResource map[schema.GroupVersionResource]kind
}

// kinds returns the table of all kinds whose version is stable. Such a version is
// not taken out of client-go any more, so programs can use another client-go
// than the one that is required here. The others come and go with every release,
// and are served by client-go's own informers.
var kinds = sync.OnceValue(func() kindTable {
	table := kindTable{map[reflect.Type]kind{}, map[schema.GroupVersionResource]kind{}}
	for _, k := range stable() {
		table.byType[reflect.TypeOf(k.example)] = k
		table.byResource[k.resource] = k
	}
	return table
})

func stable() []kind {
	return slices.Concat(
		in("admissionregistration.k8s.io", "v1", kubernetes.Interface.AdmissionregistrationV1,
			clusterWide("mutatingadmissionpolicies", admissionregistrationv1.AdmissionregistrationV1Interface.MutatingAdmissionPolicies),
			clusterWide("mutatingadmissionpolicybindings", admissionregistrationv1.AdmissionregistrationV1Interface.MutatingAdmissionPolicyBindings),
			clusterWide("mutatingwebhookconfigurations", admissionregistrationv1.AdmissionregistrationV1Interface.MutatingWebhookConfigurations),
			clusterWide("validatingadmissionpolicies", admissionregistrationv1.AdmissionregistrationV1Interface.ValidatingAdmissionPolicies),
			clusterWide("validatingadmissionpolicybindings", admissionregistrationv1.AdmissionregistrationV1Interface.ValidatingAdmissionPolicyBindings),
			clusterWide("validatingwebhookconfigurations", admissionregistrationv1.AdmissionregistrationV1Interface.ValidatingWebhookConfigurations),
		),
		in("apps", "v1", kubernetes.Interface.AppsV1,
			namespaced("controllerrevisions", appsv1.AppsV1Interface.ControllerRevisions),
			namespaced("daemonsets", appsv1.AppsV1Interface.DaemonSets),
			namespaced("deployments", appsv1.AppsV1Interface.Deployments),
			namespaced("replicasets", appsv1.AppsV1Interface.ReplicaSets),
			namespaced("statefulsets", appsv1.AppsV1Interface.StatefulSets),
		),
		in("autoscaling", "v1", kubernetes.Interface.AutoscalingV1,
			namespaced("horizontalpodautoscalers", autoscalingv1.AutoscalingV1Interface.HorizontalPodAutoscalers),
		),
		in("autoscaling", "v2", kubernetes.Interface.AutoscalingV2,
			namespaced("horizontalpodautoscalers", autoscalingv2.AutoscalingV2Interface.HorizontalPodAutoscalers),
		),
		in("batch", "v1", kubernetes.Interface.BatchV1,
			namespaced("cronjobs", batchv1.BatchV1Interface.CronJobs),
			namespaced("jobs", batchv1.BatchV1Interface.Jobs),
		),
		in("certificates.k8s.io", "v1", kubernetes.Interface.CertificatesV1,
			clusterWide("certificatesigningrequests", certificatesv1.CertificatesV1Interface.CertificateSigningRequests),
			clusterWide("clustertrustbundles", certificatesv1.CertificatesV1Interface.ClusterTrustBundles),
			namespaced("podcertificaterequests", certificatesv1.CertificatesV1Interface.PodCertificateRequests),
		),
		in("coordination.k8s.io", "v1", kubernetes.Interface.CoordinationV1,
			namespaced("leases", coordinationv1.CoordinationV1Interface.Leases),
		),
		in("", "v1", kubernetes.Interface.CoreV1,
			clusterWide("componentstatuses", corev1.CoreV1Interface.ComponentStatuses),
			namespaced("configmaps", corev1.CoreV1Interface.ConfigMaps),
			namespaced("endpoints", corev1.CoreV1Interface.Endpoints),
			namespaced("events", corev1.CoreV1Interface.Events),
			namespaced("limitranges", corev1.CoreV1Interface.LimitRanges),
			clusterWide("namespaces", corev1.CoreV1Interface.Namespaces),
			clusterWide("nodes", corev1.CoreV1Interface.Nodes),
			clusterWide("persistentvolumes", corev1.CoreV1Interface.PersistentVolumes),
			namespaced("persistentvolumeclaims", corev1.CoreV1Interface.PersistentVolumeClaims),
			namespaced("pods", corev1.CoreV1Interface.Pods),
			namespaced("podtemplates", corev1.CoreV1Interface.PodTemplates),
			namespaced("replicationcontrollers", corev1.CoreV1Interface.ReplicationControllers),
			namespaced("resourcequotas", corev1.CoreV1Interface.ResourceQuotas),
			namespaced("secrets", corev1.CoreV1Interface.Secrets),
			namespaced("services", corev1.CoreV1Interface.Services),
			namespaced("serviceaccounts", corev1.CoreV1Interface.ServiceAccounts),
		),
		in("discovery.k8s.io", "v1", kubernetes.Interface.DiscoveryV1,
			namespaced("endpointslices", discoveryv1.DiscoveryV1Interface.EndpointSlices),
		),
		in("events.k8s.io", "v1", kubernetes.Interface.EventsV1,
			namespaced("events", eventsv1.EventsV1Interface.Events),
		),
		in("flowcontrol.apiserver.k8s.io", "v1", kubernetes.Interface.FlowcontrolV1,
			clusterWide("flowschemas", flowcontrolv1.FlowcontrolV1Interface.FlowSchemas),
			clusterWide("prioritylevelconfigurations", flowcontrolv1.FlowcontrolV1Interface.PriorityLevelConfigurations),
		),
		in("networking.k8s.io", "v1", kubernetes.Interface.NetworkingV1,
			clusterWide("ipaddresses", networkingv1.NetworkingV1Interface.IPAddresses),
			namespaced("ingresses", networkingv1.NetworkingV1Interface.Ingresses),
			clusterWide("ingressclasses", networkingv1.NetworkingV1Interface.IngressClasses),
			namespaced("networkpolicies", networkingv1.NetworkingV1Interface.NetworkPolicies),
			clusterWide("servicecidrs", networkingv1.NetworkingV1Interface.ServiceCIDRs),
		),
		in("node.k8s.io", "v1", kubernetes.Interface.NodeV1,
			clusterWide("runtimeclasses", nodev1.NodeV1Interface.RuntimeClasses),
		),
		in("policy", "v1", kubernetes.Interface.PolicyV1,
			namespaced("poddisruptionbudgets", policyv1.PolicyV1Interface.PodDisruptionBudgets),
		),
		in("rbac.authorization.k8s.io", "v1", kubernetes.Interface.RbacV1,
			clusterWide("clusterroles", rbacv1.RbacV1Interface.ClusterRoles),
			clusterWide("clusterrolebindings", rbacv1.RbacV1Interface.ClusterRoleBindings),
			namespaced("roles", rbacv1.RbacV1Interface.Roles),
			namespaced("rolebindings", rbacv1.RbacV1Interface.RoleBindings),
		),
		in("resource.k8s.io", "v1", kubernetes.Interface.ResourceV1,
			clusterWide("deviceclasses", resourcev1.ResourceV1Interface.DeviceClasses),
			clusterWide("devicetaintrules", resourcev1.ResourceV1Interface.DeviceTaintRules),
			namespaced("resourceclaims", resourcev1.ResourceV1Interface.ResourceClaims),
			namespaced("resourceclaimtemplates", resourcev1.ResourceV1Interface.ResourceClaimTemplates),
			clusterWide("resourceslices", resourcev1.ResourceV1Interface.ResourceSlices),
		),
		in("scheduling.k8s.io", "v1", kubernetes.Interface.SchedulingV1,
			clusterWide("priorityclasses", schedulingv1.SchedulingV1Interface.PriorityClasses),
		),
		in("storage.k8s.io", "v1", kubernetes.Interface.StorageV1,
			clusterWide("csidrivers", storagev1.StorageV1Interface.CSIDrivers),
			clusterWide("csinodes", storagev1.StorageV1Interface.CSINodes),
			namespaced("csistoragecapacities", storagev1.StorageV1Interface.CSIStorageCapacities),
			clusterWide("storageclasses", storagev1.StorageV1Interface.StorageClasses),
			clusterWide("volumeattachments", storagev1.StorageV1Interface.VolumeAttachments),
			clusterWide("volumeattributesclasses", storagev1.StorageV1Interface.VolumeAttributesClasses),
		),
		in("storagemigration.k8s.io", "v1", kubernetes.Interface.StoragemigrationV1,
			clusterWide("storageversionmigrations", storagemigrationv1.StoragemigrationV1Interface.StorageVersionMigrations),
		),
	)
}

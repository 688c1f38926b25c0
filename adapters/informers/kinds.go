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
		in(kubernetes.Interface.AdmissionregistrationV1,
			clusterWide(admissionregistrationv1.AdmissionregistrationV1Interface.MutatingAdmissionPolicies),
			clusterWide(admissionregistrationv1.AdmissionregistrationV1Interface.MutatingAdmissionPolicyBindings),
			clusterWide(admissionregistrationv1.AdmissionregistrationV1Interface.MutatingWebhookConfigurations),
			clusterWide(admissionregistrationv1.AdmissionregistrationV1Interface.ValidatingAdmissionPolicies),
			clusterWide(admissionregistrationv1.AdmissionregistrationV1Interface.ValidatingAdmissionPolicyBindings),
			clusterWide(admissionregistrationv1.AdmissionregistrationV1Interface.ValidatingWebhookConfigurations),
		),
		in(kubernetes.Interface.AppsV1,
			namespaced(appsv1.AppsV1Interface.ControllerRevisions),
			namespaced(appsv1.AppsV1Interface.DaemonSets),
			namespaced(appsv1.AppsV1Interface.Deployments),
			namespaced(appsv1.AppsV1Interface.ReplicaSets),
			namespaced(appsv1.AppsV1Interface.StatefulSets),
		),
		in(kubernetes.Interface.AutoscalingV1,
			namespaced(autoscalingv1.AutoscalingV1Interface.HorizontalPodAutoscalers),
		),
		in(kubernetes.Interface.AutoscalingV2,
			namespaced(autoscalingv2.AutoscalingV2Interface.HorizontalPodAutoscalers),
		),
		in(kubernetes.Interface.BatchV1,
			namespaced(batchv1.BatchV1Interface.CronJobs),
			namespaced(batchv1.BatchV1Interface.Jobs),
		),
		in(kubernetes.Interface.CertificatesV1,
			clusterWide(certificatesv1.CertificatesV1Interface.CertificateSigningRequests),
			clusterWide(certificatesv1.CertificatesV1Interface.ClusterTrustBundles),
			namespaced(certificatesv1.CertificatesV1Interface.PodCertificateRequests),
		),
		in(kubernetes.Interface.CoordinationV1,
			namespaced(coordinationv1.CoordinationV1Interface.Leases),
		),
		in(kubernetes.Interface.CoreV1,
			clusterWide(corev1.CoreV1Interface.ComponentStatuses),
			namespaced(corev1.CoreV1Interface.ConfigMaps),
			namespaced(corev1.CoreV1Interface.Endpoints),
			namespaced(corev1.CoreV1Interface.Events),
			namespaced(corev1.CoreV1Interface.LimitRanges),
			clusterWide(corev1.CoreV1Interface.Namespaces),
			clusterWide(corev1.CoreV1Interface.Nodes),
			clusterWide(corev1.CoreV1Interface.PersistentVolumes),
			namespaced(corev1.CoreV1Interface.PersistentVolumeClaims),
			namespaced(corev1.CoreV1Interface.Pods),
			namespaced(corev1.CoreV1Interface.PodTemplates),
			namespaced(corev1.CoreV1Interface.ReplicationControllers),
			namespaced(corev1.CoreV1Interface.ResourceQuotas),
			namespaced(corev1.CoreV1Interface.Secrets),
			namespaced(corev1.CoreV1Interface.Services),
			namespaced(corev1.CoreV1Interface.ServiceAccounts),
		),
		in(kubernetes.Interface.DiscoveryV1,
			namespaced(discoveryv1.DiscoveryV1Interface.EndpointSlices),
		),
		in(kubernetes.Interface.EventsV1,
			namespaced(eventsv1.EventsV1Interface.Events),
		),
		in(kubernetes.Interface.FlowcontrolV1,
			clusterWide(flowcontrolv1.FlowcontrolV1Interface.FlowSchemas),
			clusterWide(flowcontrolv1.FlowcontrolV1Interface.PriorityLevelConfigurations),
		),
		in(kubernetes.Interface.NetworkingV1,
			clusterWide(networkingv1.NetworkingV1Interface.IPAddresses),
			namespaced(networkingv1.NetworkingV1Interface.Ingresses),
			clusterWide(networkingv1.NetworkingV1Interface.IngressClasses),
			namespaced(networkingv1.NetworkingV1Interface.NetworkPolicies),
			clusterWide(networkingv1.NetworkingV1Interface.ServiceCIDRs),
		),
		in(kubernetes.Interface.NodeV1,
			clusterWide(nodev1.NodeV1Interface.RuntimeClasses),
		),
		in(kubernetes.Interface.PolicyV1,
			namespaced(policyv1.PolicyV1Interface.PodDisruptionBudgets),
		),
		in(kubernetes.Interface.RbacV1,
			clusterWide(rbacv1.RbacV1Interface.ClusterRoles),
			clusterWide(rbacv1.RbacV1Interface.ClusterRoleBindings),
			namespaced(rbacv1.RbacV1Interface.Roles),
			namespaced(rbacv1.RbacV1Interface.RoleBindings),
		),
		in(kubernetes.Interface.ResourceV1,
			clusterWide(resourcev1.ResourceV1Interface.DeviceClasses),
			clusterWide(resourcev1.ResourceV1Interface.DeviceTaintRules),
			namespaced(resourcev1.ResourceV1Interface.ResourceClaims),
			namespaced(resourcev1.ResourceV1Interface.ResourceClaimTemplates),
			clusterWide(resourcev1.ResourceV1Interface.ResourceSlices),
		),
		in(kubernetes.Interface.SchedulingV1,
			clusterWide(schedulingv1.SchedulingV1Interface.PriorityClasses),
		),
		in(kubernetes.Interface.StorageV1,
			clusterWide(storagev1.StorageV1Interface.CSIDrivers),
			clusterWide(storagev1.StorageV1Interface.CSINodes),
			namespaced(storagev1.StorageV1Interface.CSIStorageCapacities),
			clusterWide(storagev1.StorageV1Interface.StorageClasses),
			clusterWide(storagev1.StorageV1Interface.VolumeAttachments),
			clusterWide(storagev1.StorageV1Interface.VolumeAttributesClasses),
		),
		in(kubernetes.Interface.StoragemigrationV1,
			clusterWide(storagemigrationv1.StoragemigrationV1Interface.StorageVersionMigrations),
		),
	)
}

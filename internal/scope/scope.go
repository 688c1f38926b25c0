// Package scope knows which kinds have no namespace, of those that Kubernetes and its usual
// extensions define: a scheme does not say.
package scope

import "k8s.io/apimachinery/pkg/runtime/schema"

// IsCluster reports whether a kind is known to have no namespace.
func IsCluster(kind schema.GroupKind) bool { return clusterScoped[kind] }

var clusterScoped = func() map[schema.GroupKind]bool {
	set := map[schema.GroupKind]bool{}
	for group, kinds := range map[string][]string{
		"": {"ComponentStatus", "Namespace", "Node", "PersistentVolume"},
		"admissionregistration.k8s.io": {
			"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
			"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
		},
		"apiextensions.k8s.io":         {"CustomResourceDefinition"},
		"apiregistration.k8s.io":       {"APIService"},
		"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
		"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
		"internal.apiserver.k8s.io":    {"StorageVersion"},
		"networking.k8s.io":            {"IPAddress", "IngressClass", "ServiceCIDR"},
		"node.k8s.io":                  {"RuntimeClass"},
		"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
		"resource.k8s.io":              {"DeviceClass", "DeviceTaintRule", "ResourcePoolStatusRequest", "ResourceSlice"},
		"scheduling.k8s.io":            {"PriorityClass"},
		"storage.k8s.io":               {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
		"storagemigration.k8s.io":      {"StorageVersionMigration"},
	} {
		for _, kind := range kinds {
			set[schema.GroupKind{Group: group, Kind: kind}] = true
		}
	}
	return set
}()

package fleet

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ClusterProfiles returns the resource of ClusterProfile objects, those of the cluster
// inventory API of SIG Multicluster.
func ClusterProfiles() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "multicluster.x-k8s.io", Version: "v1alpha1", Resource: "clusterprofiles"}
}

// ClusterProfile is a ClusterProfile, with the fields that name the cluster; a
// function of the program's has the credentials:
//
//	profiles := typed.NewInformer(kube.FromREST[*fleet.ClusterProfile](hub, kube.WithResource(fleet.ClusterProfiles())))
//	discovery, err := fleet.Discover(clusters, profiles, func(p *fleet.ClusterProfile) ([]fleet.Cluster, error) {
//		config, err := credentials(p)
//		return []fleet.Cluster{{Name: p.Name, Config: config}}, err
//	})
type ClusterProfile struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   ClusterProfileSpec   `json:"spec"`
	Status ClusterProfileStatus `json:"status"`
}

// ClusterProfileSpec is what is wanted of a ClusterProfile.
type ClusterProfileSpec struct {
	DisplayName    string `json:"displayName"`
	ClusterManager struct {
		Name string `json:"name"`
	} `json:"clusterManager"`
}

// ClusterProfileStatus is what is known of the cluster.
type ClusterProfileStatus struct {
	Conditions []metav1.Condition `json:"conditions"`
	Version    struct {
		Kubernetes string `json:"kubernetes"`
	} `json:"version"`
	Properties []ClusterProperty `json:"properties"`
}

// ClusterProperty is a property of a cluster.
type ClusterProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

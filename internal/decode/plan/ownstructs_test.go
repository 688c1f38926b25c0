package plan

import (
	"reflect"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// phase is a string of the user's own.
type phase string

// podInfo uses all shapes that a user may give the fields of a Pod.
type podInfo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		NodeName        string                      `json:"nodeName"`
		Account         *string                     `json:"serviceAccountName"` // always there
		Priority        int64                       `json:"priority"`           // wider, and no pointer
		Grace           *int64                      `json:"terminationGracePeriodSeconds"`
		HostNetwork     *bool                       `json:"hostNetwork"` // none if it is false
		NodeSelector    map[label]phase             `json:"nodeSelector"`
		Containers      []containerInfo             `json:"containers"`
		Init            []corev1.Container          `json:"initContainers"`
		Volumes         []volumeInfo                `json:"volumes"`
		SecurityContext corev1.PodSecurityContext   `json:"securityContext"`
		Overhead        map[phase]resource.Quantity `json:"overhead"`
		Ephemeral       []struct {
			Name  *string `json:"name"` // in a message that is inline in JSON
			Image string  `json:"image"`
		} `json:"ephemeralContainers"`
	} `json:"spec"`
	Status *struct {
		Phase      phase           `json:"phase"`
		Start      time.Time       `json:"startTime"`
		Conditions []conditionInfo `json:"conditions"`
	} `json:"status"`
	Computed int `json:"-"`
	//lint:ignore U1000 what is not exported is not decoded
	private string
}

type label string

type containerInfo struct {
	Name  string  `json:"name"`
	Image *string `json:"image"`
	Ports []struct {
		Port int `json:"containerPort"`
	} `json:"ports"`
	Resources struct {
		Limits   map[string]string   `json:"-"`
		Requests corev1.ResourceList `json:"requests"`
	} `json:"resources"`
	LivenessProbe *struct {
		HTTPGet *struct {
			Port intstr.IntOrString `json:"port"`
		} `json:"httpGet"` // inline in JSON
		PeriodSeconds *int32 `json:"periodSeconds"`
	} `json:"livenessProbe"`
	Env []struct {
		ValueFrom *struct {
			Resource *struct {
				Divisor *resource.Quantity `json:"divisor"`
			} `json:"resourceFieldRef"`
		} `json:"valueFrom"`
	} `json:"env"`
}

type volumeInfo struct {
	Name      string    `json:"name"`
	EmptyDir  *struct{} `json:"emptyDir"`
	ConfigMap *struct {
		Name *string `json:"name"`
	} `json:"configMap"`
	Projected struct {
		Mode *int32 `json:"defaultMode"`
	} `json:"projected"`
}

type conditionInfo struct {
	conditionKind
	Last   *metav1.Time `json:"lastTransitionTime"`
	Probed string       `json:"lastProbeTime"`
}

type conditionKind struct {
	Type corev1.PodConditionType `json:"type"`
}

// sixFields is a struct of strings.
type sixFields struct {
	Metadata struct {
		Namespace       string `json:"namespace"`
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
		PodIP string `json:"podIP"`
	} `json:"status"`
}

type secretInfo struct {
	Kind     string `json:"kind"`
	Metadata *struct {
		UID           apitypes.UID                `json:"uid"`
		Deleted       *time.Time                  `json:"deletionTimestamp"`
		ManagedFields []metav1.ManagedFieldsEntry `json:"managedFields"`
		Generation    *int64                      `json:"generation"` // none if it is 0
	} `json:"metadata"`
	Data      map[string][]byte  `json:"data"`
	Immutable bool               `json:"immutable"`
	Type      *corev1.SecretType `json:"type"`
}

// webhookInfo contains bytes, and times and quantities as texts and pointers.
type webhookInfo struct {
	Metadata struct {
		Created *string `json:"creationTimestamp"`
		Deleted string  `json:"deletionTimestamp"`
	} `json:"metadata"`
	Webhooks []struct {
		Config struct {
			CABundle []byte `json:"caBundle"`
		} `json:"clientConfig"`
		Timeout int64 `json:"timeoutSeconds"`
	} `json:"webhooks"`
}

type deploymentInfo struct {
	Metadata struct {
		Created    time.Time `json:"creationTimestamp"`
		Generation int64     `json:"generation"`
		Owners     []struct {
			UID        string `json:"uid"`
			Controller bool   `json:"controller"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		Replicas int32                  `json:"replicas"`
		Template corev1.PodTemplateSpec `json:"template"`
		Strategy *struct {
			RollingUpdate struct {
				MaxSurge       *intstr.IntOrString `json:"maxSurge"`
				MaxUnavailable intstr.IntOrString  `json:"maxUnavailable"`
			} `json:"rollingUpdate"`
		} `json:"strategy"`
	} `json:"spec"`
}

type sliceInfo struct {
	Meta struct {
		Labels  map[string]string `json:"labels"`
		Created *metav1.Time      `json:"creationTimestamp"`
	} `json:"metadata"`
	Endpoints []struct {
		Addresses  []phase `json:"addresses"`
		Conditions *struct {
			Ready bool `json:"ready"`
		} `json:"conditions"`
		NodeName string `json:"nodeName"`
	} `json:"endpoints"`
	Ports       []discoveryv1.EndpointPort `json:"ports"`
	AddressType *string                    `json:"addressType"`
}

type configMapInfo struct {
	BinaryData map[string][]byte `json:"binaryData"`
	Data       map[string]phase  `json:"data"`
}

// ownStructs returns structs of users for types of the API.
func ownStructs() map[reflect.Type][]reflect.Type {
	return map[reflect.Type][]reflect.Type{
		reflect.TypeFor[corev1.Pod]():                               {reflect.TypeFor[podInfo](), reflect.TypeFor[sixFields]()},
		reflect.TypeFor[corev1.Secret]():                            {reflect.TypeFor[secretInfo]()},
		reflect.TypeFor[admissionv1.MutatingWebhookConfiguration](): {reflect.TypeFor[webhookInfo]()},
		reflect.TypeFor[corev1.ConfigMap]():                         {reflect.TypeFor[configMapInfo]()},
		reflect.TypeFor[appsv1.Deployment]():                        {reflect.TypeFor[deploymentInfo]()},
		reflect.TypeFor[discoveryv1.EndpointSlice]():                {reflect.TypeFor[sliceInfo]()},
	}
}

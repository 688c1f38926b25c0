package differential

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/internal/decode/wire"
)

// OwnFromProtobuf runs a program of a struct of a user's own that is decoded from the protobuf
// of a type of the API. The result has to equal the one from JSON.
func (g *Types) OwnFromProtobuf(t *testing.T, r *rand.Rand) {
	t.Helper()
	one(r, []func(*testing.T, *rand.Rand, *Types){
		fromProtobuf[*ownPod, corev1.Pod], fromProtobuf[*ownService, corev1.Service], fromProtobuf[*ownSecret, corev1.Secret],
	})(t, r, g)
}

func fromProtobuf[T, API any](t *testing.T, r *rand.Rand, g *Types) {
	t.Helper()
	api, fill, held := reflect.TypeFor[API](), g.filler(r), newHeld(r)
	into := reflect.TypeFor[T]().Elem()
	mask := randomMask(r, into)
	of := &wire.API{Type: api, Kind: corev1.SchemeGroupVersion.WithKind(api.Name())}
	codec, err := wire.NewCodec(runtime.ContentTypeProtobuf, of, as[T](held), mask)
	if err != nil {
		t.Fatal(err, wire.Unplanned[T](runtime.ContentTypeJSON, of, mask))
	}
	s := &subject{
		name: into.Name() + " from protobuf", codec: anyCodec[T]{codec}, held: held, mask: mask, masked: true,
		change: func(r *rand.Rand, text []byte) []byte { return changeMessage(r, text, 12) },
		fresh: func() []byte {
			obj := reflect.New(api).Interface()
			fill.Fill(obj)
			text, _ := obj.(generated).Marshal() // nothing, if it cannot be
			return text
		},
		want: func(text []byte) (any, error) {
			made, obj := reflect.New(api).Interface(), reflect.New(into).Interface()
			if err := made.(generated).Unmarshal(text); err != nil {
				return nil, err
			}
			inJSON, err := json.Marshal(made)
			if err != nil {
				return nil, err
			}
			return obj, utiljson.Unmarshal(inJSON, obj)
		},
	}
	s.run(t, r, states)
}

type ownMeta struct {
	Name       string            `json:"name"`
	Namespace  string            `json:"namespace,omitempty"`
	Version    string            `json:"resourceVersion"`
	Labels     map[string]string `json:"labels"`
	Created    metav1.Time       `json:"creationTimestamp"`
	Deletion   *time.Time        `json:"deletionTimestamp"`
	Generation int64             `json:"generation"`
	Owners     []struct {
		Name       string `json:"name"`
		Controller *bool  `json:"controller"`
	} `json:"ownerReferences"`
	ManagedFields []metav1.ManagedFieldsEntry `json:"managedFields"`
	Finalizers    []string                    `json:"finalizers"`
}

type ownPod struct {
	Metadata ownMeta `json:"metadata"`
	Spec     *struct {
		NodeName   string `json:"nodeName"`
		Containers []struct {
			Name  string   `json:"name"`
			Image *string  `json:"image"`
			Args  []string `json:"args"`
			Ports []struct {
				ContainerPort int64  `json:"containerPort"`
				Protocol      string `json:"protocol"`
			} `json:"ports"`
			Resources struct {
				Limits   map[string]resource.Quantity `json:"limits"`
				Requests map[string]string            `json:"requests"`
			} `json:"resources"`
			Env   []corev1.EnvVar `json:"env"`
			Probe *corev1.Probe   `json:"livenessProbe"`
		} `json:"containers"`
		Volumes []struct {
			Name      string                        `json:"name"`
			ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap"`
			EmptyDir  *struct {
				SizeLimit *string `json:"sizeLimit"`
			} `json:"emptyDir"`
		} `json:"volumes"`
		Grace *int64 `json:"terminationGracePeriodSeconds"`
	} `json:"spec"`
	Status struct {
		Phase      string  `json:"phase"`
		StartTime  *string `json:"startTime"`
		Conditions []struct {
			Type string      `json:"type"`
			Last metav1.Time `json:"lastTransitionTime"`
		} `json:"conditions"`
	} `json:"status"`
}

type ownService struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Ports []struct {
			Port   int                `json:"port"`
			Target intstr.IntOrString `json:"targetPort"`
		} `json:"ports"`
		Selector map[string]string `json:"selector"`
	} `json:"spec"`
}

type ownSecret struct {
	ownMeta   `json:"metadata"`
	Data      map[string][]byte `json:"data"`
	Type      *string           `json:"type"`
	Immutable *bool             `json:"immutable"`
}

package plan

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type readsItself struct{ corev1.PodSpec }

func (*readsItself) UnmarshalJSON([]byte) error { return nil }

// TestNoPlanOfOwnStruct: there is no plan where JSON may give anything that a plan does not, and
// the error names the reason.
func TestNoPlanOfOwnStruct(t *testing.T) {
	t.Parallel()
	refused[struct {
		Spec struct {
			Color string `json:"color"`
		} `json:"spec"`
	}](t, `"spec": struct { Color string "json:\"color\"" }, "color": a v1.PodSpec has no such field`)
	refused[struct{ NodeName string }](t, `"NodeName": a v1.Pod has no such field`)
	refused[struct {
		Spec any `json:"spec"`
	}](t, "no conversion of a v1.PodSpec to a interface {}")
	refused[struct {
		Spec json.RawMessage `json:"spec"`
	}](t, "no conversion of a v1.PodSpec to a json.RawMessage")
	refused[struct {
		Spec map[string]string `json:"spec"`
	}](t, "no conversion of a v1.PodSpec to a map[string]string")
	refused[struct {
		Spec readsItself `json:"spec"`
	}](t, "no conversion of a v1.PodSpec to a plan.readsItself")
	refused[struct {
		Spec **corev1.PodSpec `json:"spec"`
	}](t, "no conversion of a v1.PodSpec to a *v1.PodSpec")
	refused[struct {
		Kind *string `json:"kind"`
	}](t, `"kind": no conversion of a string to a *string`)
	refused[struct {
		*metav1.ObjectMeta
	}](t, "a *v1.ObjectMeta is embedded")
	refused[struct {
		//lint:ignore SA5008 what is refused
		Meta *metav1.ObjectMeta `json:"metadata,string"`
	}](t, `the option "string" of its tag is not known`)
	type meta struct {
		Created    int               `json:"creationTimestamp"`
		Generation int32             `json:"generation"`
		Labels     map[int]string    `json:"labels"`
		Finalizers *[]string         `json:"finalizers"`
		Owners     []*struct{}       `json:"ownerReferences"`
		Notes      map[string]*label `json:"annotations"`
		Name       []byte            `json:"name"`
	}
	of := reflect.TypeFor[meta]()
	for i := range of.NumField() {
		_, err := newOwnPair(&Pool{}, reflect.TypeFor[metav1.ObjectMeta](), reflect.StructOf([]reflect.StructField{of.Field(i)}))
		assert.ErrorContains(t, err, "no conversion of", of.Field(i).Name)
	}
	_, err := From[sixFields](reflect.TypeFor[corev1.Pod](), nil, nil)
	assert.ErrorContains(t, err, "a plan.sixFields is not a pointer to a struct")
	_, err = From[*readsItself](reflect.TypeFor[corev1.PodSpec](), nil, nil)
	assert.ErrorContains(t, err, "has a custom JSON decoding")
	_, err = From[*sixFields](reflect.TypeFor[sixFields](), nil, nil)
	assert.ErrorContains(t, err, "a plan.sixFields has no generated code for protobuf")
}

// refused checks that there is no plan from Pods into a struct.
func refused[S any](t *testing.T, message string) {
	t.Helper()
	_, err := From[*S](reflect.TypeFor[corev1.Pod](), nil, nil)
	assert.ErrorContains(t, err, message)
}

// TestIntegersOfTheMachine: an int has what fits into it on every machine, where more than
// that is an error in JSON.
func TestIntegersOfTheMachine(t *testing.T) {
	t.Parallel()
	type ofInt32 struct {
		Spec struct {
			Replicas *int `json:"replicas"`
		} `json:"spec"`
	}
	type ofInt64 struct {
		Metadata struct {
			Generation int `json:"generation"`
		} `json:"metadata"`
	}
	replicas := int32(-7)
	data := marshal(t, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 7}, Spec: appsv1.DeploymentSpec{Replicas: &replicas}})
	plan, err := From[*ofInt32](reflect.TypeFor[appsv1.Deployment](), nil, nil)
	require.NoError(t, err)
	got, ok := plan.Decode(data, nil)
	require.True(t, ok)
	require.Equal(t, -7, *got.Spec.Replicas)
	wide, err := From[*ofInt64](reflect.TypeFor[appsv1.Deployment](), nil, nil)
	if strconv.IntSize == 32 {
		require.ErrorContains(t, err, "no conversion of a int64 to a int")
		return
	}
	require.NoError(t, err)
	one, ok := wide.Decode(data, nil)
	require.True(t, ok)
	require.Equal(t, 7, one.Metadata.Generation)
}

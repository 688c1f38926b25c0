package apitest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/apitest"
)

// convertAutoscaler converts the one metric of v1 to and from the list of v2.
func convertAutoscaler(obj runtime.Object, to schema.GroupVersion) (runtime.Object, error) {
	switch from := obj.(type) {
	case *autoscalingv1.HorizontalPodAutoscaler:
		into := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: from.ObjectMeta}
		into.Spec.MaxReplicas = from.Spec.MaxReplicas
		if percent := from.Spec.TargetCPUUtilizationPercentage; percent != nil {
			into.Spec.Metrics = []autoscalingv2.MetricSpec{{Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{AverageUtilization: percent},
			}}}
		}
		return into, nil
	case *autoscalingv2.HorizontalPodAutoscaler:
		into := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: from.ObjectMeta}
		into.Spec.MaxReplicas = from.Spec.MaxReplicas
		for _, m := range from.Spec.Metrics {
			into.Spec.TargetCPUUtilizationPercentage = m.Resource.Target.AverageUtilization
		}
		return into, nil
	}
	return nil, fmt.Errorf("%T is not converted to %s", obj, to)
}

func TestVersionsOfTypedObjects(t *testing.T) {
	ctx := testContext(t)
	resource := apitest.Resource{
		GroupVersionResource: autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers"), Kind: "HorizontalPodAutoscaler", Status: true,
	}
	old := resource
	old.GroupVersionResource.Version, old.StorageVersion, old.Convert = "v1", "v2", convertAutoscaler
	srv := apitest.Start(t, apitest.WithResources(old, resource))
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	v1, v2 := client.AutoscalingV1().HorizontalPodAutoscalers("default"), client.AutoscalingV2().HorizontalPodAutoscalers("default")
	watched, err := v1.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
	require.NoError(t, err)
	defer watched.Stop()

	percent := int32(80)
	created, err := v1.Create(ctx, &autoscalingv1.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       autoscalingv1.HorizontalPodAutoscalerSpec{MaxReplicas: 3, TargetCPUUtilizationPercentage: &percent},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, percent, *created.Spec.TargetCPUUtilizationPercentage)

	stored, err := v2.Get(ctx, "web", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, created.ResourceVersion, stored.ResourceVersion)
	require.Len(t, stored.Spec.Metrics, 1)
	assert.Equal(t, percent, *stored.Spec.Metrics[0].Resource.Target.AverageUtilization)
	*stored.Spec.Metrics[0].Resource.Target.AverageUtilization = 50
	_, err = v2.Update(ctx, stored, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = v1.Patch(ctx, "web", types.StrategicMergePatchType, []byte(`{"spec":{"maxReplicas":5}}`), metav1.PatchOptions{})
	require.NoError(t, err)

	for _, want := range []struct{ percent, most int32 }{{80, 3}, {50, 3}, {50, 5}} {
		e := <-watched.ResultChan()
		got := e.Object.(*autoscalingv1.HorizontalPodAutoscaler)
		assert.Equal(t, want.percent, *got.Spec.TargetCPUUtilizationPercentage)
		assert.Equal(t, want.most, got.Spec.MaxReplicas)
	}
	all, err := apitest.Objects[*autoscalingv2.HorizontalPodAutoscaler](srv)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, int32(5), all[0].Spec.MaxReplicas)
	list, err := v1.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, int32(50), *list.Items[0].Spec.TargetCPUUtilizationPercentage)
}

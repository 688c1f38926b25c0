package apitest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/apitest"
)

// subresources is a server with a Pod and a Deployment, and a client of it.
func subresources(t *testing.T, opts ...apitest.Option) (*apitest.Server, *kubernetes.Clientset) {
	named := metav1.ObjectMeta{Name: "x", Namespace: "shop"}
	opts = append(opts, apitest.WithObjects(&corev1.Pod{ObjectMeta: named}, &appsv1.Deployment{ObjectMeta: named}))
	srv := apitest.Start(t, opts...)
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	return srv, client
}

// TestAdmissionOfSubresources: admissions change and refuse requests for subresources.
func TestAdmissionOfSubresources(t *testing.T) {
	var asked []string
	_, client := subresources(t, apitest.WithAdmission("nodes", func(_ context.Context, a *apitest.Admission) error {
		asked = append(asked, fmt.Sprint(a.Operation, " ", a.Resource.Resource, "/", a.Subresource, " ", a.Kind.Kind, " ", a.Name, " ", a.DryRun))
		switch obj := a.Object.(type) {
		case *corev1.Binding:
			obj.Target.Name = "b"
		case *autoscalingv1.Scale:
			if obj.Spec.Replicas > 9 {
				return fmt.Errorf("%d replicas, and %d before", obj.Spec.Replicas, a.Old.(*autoscalingv1.Scale).Spec.Replicas)
			}
			obj.Spec.Replicas++
		case *policyv1.Eviction:
			if obj.DeleteOptions == nil {
				obj.DeleteOptions = &metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](5)}
			}
		}
		return nil
	}))
	ctx := t.Context()
	pods, deployments := client.CoreV1().Pods("shop"), client.AppsV1().Deployments("shop")
	named := metav1.ObjectMeta{Name: "x"}
	require.NoError(t, pods.Bind(ctx, &corev1.Binding{ObjectMeta: named, Target: corev1.ObjectReference{Name: "a"}}, metav1.CreateOptions{}))
	dryRun := &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	require.NoError(t, pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: named, DeleteOptions: dryRun}))
	require.NoError(t, pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: named}))
	scale := &autoscalingv1.Scale{ObjectMeta: named, Spec: autoscalingv1.ScaleSpec{Replicas: 2}}
	scaled, err := deployments.UpdateScale(ctx, "x", scale, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 3, scaled.Spec.Replicas)
	scale.Spec.Replicas = 10
	_, err = deployments.UpdateScale(ctx, "x", scale, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, "10 replicas, and 3 before")
	assert.Equal(t, []string{
		"CREATE pods/binding Binding x false", "CREATE pods/eviction Eviction x true", "CREATE pods/eviction Eviction x false",
		"UPDATE deployments/scale Scale x false", "UPDATE deployments/scale Scale x false",
	}, asked)

	pod, err := pods.Get(ctx, "x", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "b", pod.Spec.NodeName)
	assert.EqualValues(t, 5, *pod.DeletionGracePeriodSeconds)
}

// TestFaultOfASubresource: a fault may be about one subresource, and so may a count.
func TestFaultOfASubresource(t *testing.T) {
	srv, client := subresources(t)
	srv.Inject(apitest.Fault{Verb: "create", Resource: "pods/binding", Times: 1, Err: apierrors.NewServerTimeout(corev1.Resource("pods"), "bind", 0)})
	pods, ctx := client.CoreV1().Pods("shop"), t.Context()
	_, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "y"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "y"}, Target: corev1.ObjectReference{Name: "a"}}
	assert.Error(t, pods.Bind(ctx, binding, metav1.CreateOptions{}))
	require.NoError(t, pods.Bind(ctx, binding, metav1.CreateOptions{}))
	assert.Equal(t, 2, srv.Requests("create", "pods/binding"))
	assert.Equal(t, 3, srv.Requests("create", "pods"))
	assert.Zero(t, srv.Requests("create", "pods/eviction"))
	assert.Zero(t, srv.Requests("", "nodes/binding"))
}

type gang struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              gangSpec   `json:"spec"`
	Status            gangStatus `json:"status"`
}

type gangSpec struct {
	Replicas int32  `json:"replicas"`
	Boss     string `json:"boss,omitempty"`
}

type gangStatus struct {
	Replicas int32  `json:"replicas"`
	Selector string `json:"selector,omitempty"`
}

func (g *gang) DeepCopyObject() runtime.Object {
	out := *g
	g.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

type gangList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []gang `json:"items"`
}

func (l *gangList) DeepCopyObject() runtime.Object {
	out := *l
	return &out
}

// TestScaleOfAStruct: a custom resource that the scheme knows has a scale, as an unstructured one.
func TestScaleOfAStruct(t *testing.T) {
	kind := widgets.GroupVersion().WithKind("Widget")
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(kind, &gang{})
	scheme.AddKnownTypeWithName(kind.GroupVersion().WithKind("WidgetList"), &gangList{})
	srv := apitest.Start(t, apitest.WithScheme(scheme), apitest.WithResources(apitest.Resource{
		GroupVersionResource: widgets, Kind: "Widget", Status: true, Scale: true,
	}), apitest.WithObjects(&gang{
		TypeMeta: metav1.TypeMeta{APIVersion: kind.GroupVersion().String(), Kind: "Widget"}, ObjectMeta: metav1.ObjectMeta{Name: "g", Namespace: "shop"},
		Spec: gangSpec{Replicas: 2, Boss: "b"}, Status: gangStatus{Replicas: 1, Selector: "a=b"},
	}))
	ctx, client := t.Context(), dynamicClient(t, srv).Resource(widgets).Namespace("shop")
	scale, err := client.Get(ctx, "g", metav1.GetOptions{}, "scale")
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"replicas": int64(1), "selector": "a=b"}, scale.Object["status"])
	require.NoError(t, unstructured.SetNestedField(scale.Object, int64(5), "spec", "replicas"))
	_, err = client.Update(ctx, scale, metav1.UpdateOptions{}, "scale")
	require.NoError(t, err)
	all, err := apitest.Objects[*gang](srv)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, gangSpec{Replicas: 5, Boss: "b"}, all[0].Spec)
	assert.Equal(t, gangStatus{Replicas: 1, Selector: "a=b"}, all[0].Status)
	assert.EqualValues(t, 2, all[0].Generation)

	_, err = client.Get(ctx, "g", metav1.GetOptions{}, "binding")
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
}

// TestScaleTooLarge: a scale has 32 bits, and an object with more is an error.
func TestScaleTooLarge(t *testing.T) {
	widget := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(1 << 32)}}}
	widget.SetGroupVersionKind(widgets.GroupVersion().WithKind("Widget"))
	widget.SetNamespace("shop")
	widget.SetName("w")
	srv := apitest.Start(t, apitest.WithObjects(widget), apitest.WithResources(apitest.Resource{
		GroupVersionResource: widgets, Kind: "Widget", Scale: true,
	}))
	_, err := dynamicClient(t, srv).Resource(widgets).Namespace("shop").Get(t.Context(), "w", metav1.GetOptions{}, "scale")
	assert.True(t, apierrors.IsInternalError(err), "%v", err)
	assert.ErrorContains(t, err, "more than 32 bits")
}

// TestBudgetsOfAnotherVersion: an eviction is refused if the budgets cannot be read.
func TestBudgetsOfAnotherVersion(t *testing.T) {
	named := metav1.ObjectMeta{Name: "x", Namespace: "shop"}
	srv, client := subresources(t, apitest.WithResources(apitest.Resource{
		GroupVersionResource: policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), Kind: "PodDisruptionBudget",
		Status: true, StorageVersion: "v1beta1",
		Convert: func(runtime.Object, schema.GroupVersion) (runtime.Object, error) {
			return nil, errors.New("not needed")
		},
	}), apitest.WithObjects(&policyv1beta1.PodDisruptionBudget{ObjectMeta: named}))
	require.NoError(t, srv.Update(t.Context(), &corev1.Pod{ObjectMeta: named, Status: corev1.PodStatus{Phase: corev1.PodRunning}}))
	err := client.CoreV1().Pods("shop").EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
	assert.True(t, apierrors.IsInternalError(err), "%v", err)
	assert.ErrorContains(t, err, "v1beta1.PodDisruptionBudget")
}

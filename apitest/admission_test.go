package apitest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubetyped/informer/apitest"
)

// admitted starts a server with one function, and returns its Pods.
func admitted(t *testing.T, admit apitest.AdmissionFunc) (*apitest.Server, corev1client.PodInterface) {
	srv := apitest.Start(t, apitest.WithAdmission("pods.example.com", admit))
	return srv, clientset(t, srv, "").CoreV1().Pods("default")
}

func ExampleWithAdmission() {
	srv, err := apitest.NewServer(apitest.WithAdmission("limits.example.com", func(_ context.Context, a *apitest.Admission) error {
		if p, ok := a.Object.(*corev1.Pod); ok && len(p.Spec.Containers) > 1 {
			return errors.New("one container is enough")
		}
		return nil
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	client := corev1client.NewForConfigOrDie(srv.Config())
	_, err = client.Pods("default").Create(context.Background(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web"}, {Name: "proxy"}}},
	}, metav1.CreateOptions{})
	fmt.Println(err)
	// Output: admission webhook "limits.example.com" denied the request: one container is enough
}

func TestAdmissionIsAskedAboutWrites(t *testing.T) {
	var asked []string
	srv, pods := admitted(t, func(_ context.Context, a *apitest.Admission) error {
		assert.Equal(t, corev1.SchemeGroupVersion.WithKind("Pod"), a.Kind)
		assert.Equal(t, a.Operation == admissionv1.Create, a.Old == nil)
		assert.Equal(t, a.Operation == admissionv1.Delete, a.Object == nil)
		asked = append(asked, fmt.Sprintln(a.Operation, a.Resource.Resource, a.Subresource, a.Namespace, a.Name, a.DryRun))
		return nil
	})
	ctx := t.Context()
	p, err := pods.Create(ctx, pod("p"), metav1.CreateOptions{})
	require.NoError(t, err)
	generated := pod("")
	generated.GenerateName = "g-"
	_, err = pods.Create(ctx, generated, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	p, err = pods.Update(ctx, p, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = pods.UpdateStatus(ctx, p, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = pods.Patch(ctx, "p", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
	require.NoError(t, err)
	for range 2 {
		_, err = pods.Patch(ctx, "a", types.ApplyPatchType, []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`), metav1.PatchOptions{FieldManager: "m"})
		require.NoError(t, err)
	}
	require.NoError(t, pods.Delete(ctx, "p", metav1.DeleteOptions{}))
	require.NoError(t, pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	require.NoError(t, srv.Create(ctx, pod("p")))
	require.NoError(t, srv.Delete(ctx, pod("p")), "without HTTP nobody is asked")
	assert.Equal(t, []string{
		"CREATE pods  default p false\n", "CREATE pods  default  true\n",
		"UPDATE pods  default p false\n", "UPDATE pods status default p false\n", "UPDATE pods  default p false\n",
		"CREATE pods  default a false\n", "UPDATE pods  default a false\n",
		"DELETE pods  default p false\n", "DELETE pods  default a false\n",
	}, asked)
}

// TestAdmissionRefuses is in virtual time: clients wait before they try again after a 429.
func TestAdmissionRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		refusal error
		reason  metav1.StatusReason
		code    int32
		message string
	}{
		"Error":   {errors.New("not today"), metav1.StatusReasonForbidden, 403, "not today"},
		"Status":  {fmt.Errorf("quota: %w", apierrors.NewTooManyRequests("slow down", 1)), metav1.StatusReasonTooManyRequests, 429, "slow down"},
		"NoWords": {&apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonConflict, Code: 200}}, metav1.StatusReasonConflict, 400, "Conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var refusal error
				_, pods := admitted(t, func(context.Context, *apitest.Admission) error { return refusal })
				ctx := t.Context()
				_, err := pods.Create(ctx, pod("p"), metav1.CreateOptions{})
				require.NoError(t, err)

				refusal = c.refusal
				for verb, write := range map[string]func() error{
					"create": func() error { _, err := pods.Create(ctx, pod("q"), metav1.CreateOptions{}); return err },
					"update": func() error { _, err := pods.Update(ctx, pod("p"), metav1.UpdateOptions{}); return err },
					"patch": func() error {
						_, err := pods.Patch(ctx, "p", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
						return err
					},
					"delete": func() error { return pods.Delete(ctx, "p", metav1.DeleteOptions{}) },
				} {
					var status apierrors.APIStatus
					require.ErrorAs(t, write(), &status, verb)
					assert.Equal(t, c.reason, status.Status().Reason)
					assert.Equal(t, c.code, status.Status().Code)
					assert.Equal(t, `admission webhook "pods.example.com" denied the request: `+c.message, status.Status().Message)
				}

				list, err := pods.List(ctx, metav1.ListOptions{})
				require.NoError(t, err)
				require.Len(t, list.Items, 1)
				assert.Empty(t, list.Items[0].Labels)
			})
		})
	}
}

// TestAdmissionRefusesAnApply: the error of an admission function is the answer, even NotFound.
func TestAdmissionRefusesAnApply(t *testing.T) {
	maps := corev1.Resource("configmaps")
	var refused []admissionv1.Operation
	srv, pods := admitted(t, func(_ context.Context, a *apitest.Admission) error {
		refused = append(refused, a.Operation)
		switch {
		case len(refused) > 2:
			return errors.New("asked again")
		case a.Operation == admissionv1.Create:
			return apierrors.NewAlreadyExists(maps, "m")
		default:
			return apierrors.NewNotFound(maps, "m")
		}
	})
	apply := func() error {
		_, err := pods.Patch(t.Context(), "p", types.ApplyPatchType, []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}}}`), metav1.PatchOptions{FieldManager: "m"})
		return err
	}
	err := apply()
	assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)
	require.NoError(t, srv.Create(t.Context(), pod("p")))
	err = apply()
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	assert.Equal(t, []admissionv1.Operation{admissionv1.Create, admissionv1.Update}, refused)
}

func TestAdmissionChangesWrites(t *testing.T) {
	_, pods := admitted(t, func(_ context.Context, a *apitest.Admission) error {
		if p, ok := a.Object.(*corev1.Pod); ok {
			p.Labels = map[string]string{"seen": string(a.Operation)}
			p.Spec.Hostname = "h" + p.Spec.Hostname
			p.Status.Message = "m" + p.Status.Message
			p.UID, p.ResourceVersion, p.Generation, p.CreationTimestamp = "another", "1", 77, metav1.Unix(1, 0)
		}
		if p, ok := a.Old.(*corev1.Pod); ok {
			p.Labels["seen"] = "corrupted" // it is a copy
		}
		return nil
	})
	ctx := t.Context()
	created, err := pods.Create(ctx, pod("p"), metav1.CreateOptions{FieldManager: "me"})
	require.NoError(t, err)
	assert.Equal(t, "CREATE", created.Labels["seen"])
	assert.Equal(t, "h", created.Spec.Hostname)
	assert.Empty(t, created.Status.Message, "a create has no status")
	assert.NotEqual(t, types.UID("another"), created.UID)
	assert.EqualValues(t, 1, created.Generation)
	assert.Greater(t, created.CreationTimestamp.Unix(), int64(1))

	patched, err := pods.Patch(ctx, "p", types.MergePatchType, []byte(`{"status":{"message":"!"}}`), metav1.PatchOptions{FieldManager: "kubelet"}, "status")
	require.NoError(t, err)
	assert.Equal(t, "m!", patched.Status.Message)
	assert.Equal(t, "h", patched.Spec.Hostname, "a write of the status changes the status alone")
	assert.Equal(t, created.UID, patched.UID)
	assert.Len(t, patched.ManagedFields, 2)

	updated, err := pods.Update(ctx, patched, metav1.UpdateOptions{FieldManager: "me"})
	require.NoError(t, err)
	assert.Equal(t, "UPDATE", updated.Labels["seen"])
	assert.Equal(t, "hh", updated.Spec.Hostname)
	assert.Equal(t, "m!", updated.Status.Message)
	assert.EqualValues(t, 2, updated.Generation)
}

func TestAdmissionsAreAskedInOrder(t *testing.T) {
	note := func(word string) apitest.Option {
		return apitest.WithAdmission(word, func(_ context.Context, a *apitest.Admission) error {
			u := a.Object.(*unstructured.Unstructured)
			told, _, err := unstructured.NestedString(u.Object, "spec", "told")
			return errors.Join(err, unstructured.SetNestedField(u.Object, told+word, "spec", "told"))
		})
	}
	srv := apitest.Start(t, note("a"), note("b"), apitest.WithResources(apitest.Resource{GroupVersionResource: widgets, Kind: "Widget"}))
	resource := dynamicClient(t, srv).Resource(widgets).Namespace("default")
	w, err := resource.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"told": "ab"}, w.Object["spec"])
	w, err = resource.Update(t.Context(), w, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"told": "abab"}, w.Object["spec"])
}

func TestAdmissionThatMakesNoSense(t *testing.T) {
	for name, spoil := range map[string]func(*apitest.Admission){
		"Nil":     func(a *apitest.Admission) { a.Object = nil },
		"Other":   func(a *apitest.Admission) { a.Object = runtime.Object(&corev1.ConfigMap{}) },
		"Renamed": func(a *apitest.Admission) { a.Object.(*corev1.Pod).Name = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			srv, pods := admitted(t, func(_ context.Context, a *apitest.Admission) error { spoil(a); return nil })
			_, err := pods.Create(t.Context(), pod("p"), metav1.CreateOptions{})
			assert.True(t, apierrors.IsInternalError(err), "%v", err)
			require.NoError(t, srv.Create(t.Context(), pod("p")))
			_, err = pods.Update(t.Context(), pod("p"), metav1.UpdateOptions{})
			assert.True(t, apierrors.IsInternalError(err), "%v", err)
		})
	}
	_, err := apitest.NewServer(apitest.WithAdmission("", nil))
	assert.ErrorContains(t, err, "no name or no function")
}

// A deletion that is refused is tried again by the server's own controllers.
func TestAdmissionOfCollections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		refused := 0
		srv := apitest.Start(t, apitest.WithGarbageCollection(), apitest.WithNamespaceLifecycle(),
			apitest.WithObjects(namespace("shop"), in("shop", pod("p")), owned("a"), owned("b", "a")),
			apitest.WithAdmission("patience", func(_ context.Context, a *apitest.Admission) error {
				mu.Lock()
				defer mu.Unlock()
				if a.Name != "p" && a.Name != "b" || refused == 6 {
					return nil
				}
				refused++
				return errors.New("not yet")
			}))
		require.NoError(t, srv.Delete(t.Context(), owned("a"), namespace("shop")))
		synctest.Wait()
		client := clientset(t, srv, "")
		_, err := client.CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		_, err = client.CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
		maps, err := client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(t, maps.Items)
		mu.Lock()
		defer mu.Unlock()
		assert.Equal(t, 6, refused)
	})
}

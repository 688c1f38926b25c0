package kube

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// transport is an http.RoundTripper that is a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestBuiltInResources: what a resource of client-go's clientset is called is what its
// generated client asks for, for all of them that list.
func TestBuiltInResources(t *testing.T) {
	t.Parallel()
	var path string
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: "http://example.com/prefix", QPS: -1, Transport: transport(func(r *http.Request) (*http.Response, error) {
		path = r.URL.Path
		return nil, errors.New("not sent")
	})})
	require.NoError(t, err)
	seen := 0
	of := reflect.ValueOf(clientset)
	for i := range of.NumMethod() {
		if of.Method(i).Type().NumIn() != 0 || of.Method(i).Type().NumOut() != 1 {
			continue
		}
		group := of.Method(i).Call(nil)[0]
		if group.Kind() != reflect.Interface || !strings.Contains(group.Type().PkgPath(), "/kubernetes/typed/") {
			continue
		}
		group = group.Elem()
		for j := range group.NumMethod() {
			getter := group.Method(j)
			if getter.Type().NumOut() != 1 || getter.Type().Out(0).Kind() != reflect.Interface || group.Type().Method(j).Name == "RESTClient" {
				continue
			}
			arguments := make([]reflect.Value, getter.Type().NumIn())
			for k := range arguments {
				arguments[k] = reflect.ValueOf("")
			}
			client := getter.Call(arguments)[0].Elem()
			list := client.MethodByName("List")
			if !list.IsValid() {
				continue
			}
			list.Call([]reflect.Value{reflect.ValueOf(t.Context()), reflect.ValueOf(metav1.ListOptions{})})
			kinds, _, err := scheme.Scheme.ObjectKinds(reflect.New(client.MethodByName("Get").Type().Out(0).Elem()).Interface().(runtime.Object))
			require.NoError(t, err)
			require.Len(t, kinds, 1)
			plural, _ := meta.UnsafeGuessKindToResource(kinds[0])
			assert.Equal(t, path, "/prefix/"+strings.TrimPrefix(strings.Join(resource{plural, kinds[0]}.path(""), "/"), "/"))
			assert.IsType(t, &rest.RESTClient{}, client.Interface().(generatedClient).GetClient())
			seen++
		}
	}
	assert.Greater(t, seen, 100)
}

// generatedPods is what the client for Pods has that client-go has generated.
type generatedPods interface {
	corev1client.PodInterface
	generatedClient
}

// embeddingClient is a client of a program's own, which lists and watches some Pods only.
type embeddingClient struct{ generatedPods }

func (c embeddingClient) List(ctx context.Context, opts metav1.ListOptions) (*corev1.PodList, error) {
	opts.LabelSelector = "app=web"
	return c.generatedPods.List(ctx, opts)
}

func (c embeddingClient) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.LabelSelector = "app=web"
	return c.generatedPods.Watch(ctx, opts)
}

// TestFromClientLeavesOptionsAlone: those that a caller passes have the caller's memory
// behind them.
func TestFromClientLeavesOptionsAlone(t *testing.T) {
	t.Parallel()
	web := labels.SelectorFromSet(labels.Set{"app": "web"})
	options := append(make([]SourceOption, 0, 4), WithBackoff(time.Millisecond, time.Second), WithLabelSelector(web))
	FromClient(fake.NewClientset().CoreV1().Pods(""), options[:1]...)
	s, ok := FromClient(fake.NewClientset().CoreV1().Pods(""), options...).(*reflectorSource[*corev1.Pod])
	require.True(t, ok)
	assert.Equal(t, web, s.config.labels)
}

// TestFromClientDecodesItself: with clients that client-go has generated, and no others.
func TestFromClientDecodesItself(t *testing.T) {
	t.Parallel()
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: "http://example.com"})
	require.NoError(t, err)
	pods := clientset.CoreV1().Pods("default")
	s, ok := FromClient(pods, WithoutDeduplication()).(*restSource[*corev1.Pod])
	require.True(t, ok)
	require.NoError(t, s.err)
	assert.Equal(t, "default", s.rest.namespace)
	assert.Equal(t, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, s.resource.GroupVersionResource)
	assert.True(t, s.rest.withoutDeduplication)
	assert.IsType(t, &restSource[*corev1.Node]{}, FromClient(clientset.CoreV1().Nodes()))

	wrapped := struct{ corev1client.PodInterface }{pods}
	assert.IsType(t, &reflectorSource[*corev1.Pod]{}, FromClient(wrapped), "its methods may do something else")
	embedding := embeddingClient{pods.(generatedPods)}
	require.Implements(t, (*generatedClient)(nil), embedding)
	assert.IsType(t, &reflectorSource[*corev1.Pod]{}, FromClient(embedding), "some of its methods may be its own")
	assert.IsType(t, &reflectorSource[*corev1.Pod]{}, FromClient(&embedding))
	_, err = NewDecodingClient(embedding, nil)
	require.ErrorContains(t, err, "no client of client-go's clientset")
	assert.IsType(t, &reflectorSource[*corev1.Pod]{}, FromClient(fake.NewClientset().CoreV1().Pods("")))
	misplaced, ok := FromClient(pods, WithNamespace("other")).(*reflectorSource[*corev1.Pod])
	require.True(t, ok)
	assert.ErrorContains(t, misplaced.err, "WithNamespace: for FromREST alone")
}

package faults

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/e2e/crd"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// objects are those of one resource in one namespace, as clients see them.
type objects[T history.Object] interface {
	create(ctx context.Context, name string) (T, error)
	// update writes obj with another content.
	update(ctx context.Context, obj T, content string) (T, error)
	get(ctx context.Context, name string) (T, error)
	list(ctx context.Context) ([]T, error)
	remove(ctx context.Context, name string) error
	// source returns what an informer takes the objects from, by config.
	source(config *rest.Config, opts ...kube.SourceOption) source.Source[T]
}

// configMaps are the ConfigMaps of a namespace.
type configMaps struct {
	client    kubernetes.Interface
	namespace string
}

func newConfigMaps(namespace string) configMaps {
	return configMaps{kubernetes.NewForConfigOrDie(server.Config()), namespace}
}

func (c configMaps) create(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	return c.client.CoreV1().ConfigMaps(c.namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "faults"}},
		Data:       map[string]string{"content": "new"},
	}, metav1.CreateOptions{})
}

func (c configMaps) update(ctx context.Context, obj *corev1.ConfigMap, content string) (*corev1.ConfigMap, error) {
	obj = obj.DeepCopy()
	obj.Data["content"] = content
	return c.client.CoreV1().ConfigMaps(c.namespace).Update(ctx, obj, metav1.UpdateOptions{})
}

func (c configMaps) get(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	return c.client.CoreV1().ConfigMaps(c.namespace).Get(ctx, name, metav1.GetOptions{})
}

func (c configMaps) list(ctx context.Context) ([]*corev1.ConfigMap, error) {
	list, err := c.client.CoreV1().ConfigMaps(c.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	objs := make([]*corev1.ConfigMap, len(list.Items))
	for i := range list.Items {
		objs[i] = &list.Items[i]
	}
	return objs, nil
}

func (c configMaps) remove(ctx context.Context, name string) error {
	return c.client.CoreV1().ConfigMaps(c.namespace).Delete(ctx, name, metav1.DeleteOptions{})
}

func (c configMaps) source(config *rest.Config, opts ...kube.SourceOption) source.Source[*corev1.ConfigMap] {
	return kube.FromClient(kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(c.namespace), opts...)
}

// customs are the objects of a custom resource in a namespace.
type customs struct {
	resource  crd.Resource
	client    dynamic.ResourceInterface
	namespace string
}

func newCustoms(resource crd.Resource, namespace string) customs {
	client := dynamic.NewForConfigOrDie(server.Config()).Resource(resource.GVR()).Namespace(namespace)
	return customs{resource, client, namespace}
}

func (c customs) create(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{Object: map[string]any{"content": "new"}}
	obj.SetGroupVersionKind(c.resource.GVK())
	obj.SetName(name)
	return c.client.Create(ctx, obj, metav1.CreateOptions{})
}

func (c customs) update(ctx context.Context, obj *unstructured.Unstructured, content string) (*unstructured.Unstructured, error) {
	obj = obj.DeepCopy()
	obj.Object["content"] = content
	return c.client.Update(ctx, obj, metav1.UpdateOptions{})
}

func (c customs) get(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	return c.client.Get(ctx, name, metav1.GetOptions{})
}

func (c customs) list(ctx context.Context) ([]*unstructured.Unstructured, error) {
	list, err := c.client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	objs := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		objs[i] = &list.Items[i]
	}
	return objs, nil
}

func (c customs) remove(ctx context.Context, name string) error {
	return c.client.Delete(ctx, name, metav1.DeleteOptions{})
}

func (c customs) source(config *rest.Config, opts ...kube.SourceOption) source.Source[*unstructured.Unstructured] {
	client := dynamic.NewForConfigOrDie(config).Resource(c.resource.GVR()).Namespace(c.namespace)
	return kube.FromListerWatcher[*unstructured.Unstructured](&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, opts)
		},
		WatchFuncWithContext: client.Watch,
	}, opts...)
}

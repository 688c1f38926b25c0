package adapters_test

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	ourinformers "github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed/kube"
)

// TestDecoding: with clients of client-go's clientset, objects are decoded here without any option.
// They share strings, and nothing that a program can modify, with a transform function or without.
func TestDecoding(t *testing.T) {
	t.Parallel()
	factory := func(opts ...ourinformers.SharedInformerOption) func(*testing.T, kubernetes.Interface) cache.SharedIndexInformer {
		return func(_ *testing.T, client kubernetes.Interface) cache.SharedIndexInformer {
			return ourinformers.NewSharedInformerFactoryWithOptions(client, 0, opts...).Core().V1().Pods().Informer()
		}
	}
	for name, informerOf := range map[string]func(*testing.T, kubernetes.Interface) cache.SharedIndexInformer{
		"factory":                  factory(),
		"factory with a transform": factory(ourinformers.WithTransform(same)),
		"client informer": func(_ *testing.T, client kubernetes.Interface) cache.SharedIndexInformer {
			return adapters.NewClientInformer(client.CoreV1().Pods(metav1.NamespaceAll), cache.SharedIndexInformerOptions{})
		},
		"served": func(t *testing.T, client kubernetes.Interface) cache.SharedIndexInformer {
			factory := informers.NewSharedInformerFactory(client, 0)
			require.NoError(t, adapters.Serve(factory, client.CoreV1().Pods(metav1.NamespaceAll)))
			return factory.Core().V1().Pods().Informer()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const pods = 100
			srv := apitest.Start(t)
			for i := range pods {
				require.NoError(t, srv.Create(t.Context(), tolerant("shop", fmt.Sprint("web-", i))))
			}
			client, err := kubernetes.NewForConfig(srv.Config())
			require.NoError(t, err)
			informer := informerOf(t, client)
			startShared(t, informer)
			images, tolerations := map[*byte]bool{}, map[*corev1.Toleration]bool{}
			for _, obj := range informer.GetStore().List() {
				pod := obj.(*corev1.Pod)
				images[unsafe.StringData(pod.Spec.Containers[0].Image)] = true
				tolerations[&pod.Spec.Tolerations[0]] = true
			}
			assert.Len(t, tolerations, pods)
			assert.Less(t, len(images), pods/2)
		})
	}
}

// TestResourceDecoding: behind a kube.DecodingTransport, dynamic and metadata factories decode here
// without any option, and their objects share strings alone.
func TestResourceDecoding(t *testing.T) {
	t.Parallel()
	for name, of := range resourceInformers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const pods = 100
			srv := apitest.Start(t)
			for i := range pods {
				require.NoError(t, srv.Create(t.Context(), labelled(fmt.Sprint("web-", i))))
			}
			config := srv.Config()
			config.Wrap(kube.DecodingTransport)
			informer := of.ours(t, config, false, false).Informer()
			startShared(t, informer)
			namespaces, parts := map[*byte]bool{}, map[uintptr]bool{}
			for _, obj := range informer.GetStore().List() {
				namespaces[unsafe.StringData(obj.(metav1.Object).GetNamespace())] = true
				parts[reflect.ValueOf(of.part(obj)).Pointer()] = true
			}
			assert.Len(t, parts, pods)
			assert.Less(t, len(namespaces), pods/2)
		})
	}
}

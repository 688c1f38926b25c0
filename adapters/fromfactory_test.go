package adapters_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/metadata/metadatainformer"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

var sharedPods = corev1.SchemeGroupVersion.WithResource("pods")

// factoryRun starts a factory after the source was made, and checks that the first list that the
// source reports has the one object that there is.
func factoryRun[T index.Object](t *testing.T, src source.Source[T], factory interface {
	Start(<-chan struct{})
	Shutdown()
}) {
	t.Helper()
	stop := make(chan struct{})
	factory.Start(stop)
	t.Cleanup(func() {
		close(stop)
		factory.Shutdown()
	})
	end := &sinktest.Recorder[T]{}
	sharedRun(t, func(ctx context.Context) error { return src.Run(ctx, end) }, nil)
	time.Sleep(time.Minute)
	reports, errs := end.Take()
	require.Empty(t, errs)
	first := slices.IndexFunc(reports, func(report sinktest.Report[T]) bool { return report.Method == "Replace" })
	require.GreaterOrEqual(t, first, 0, "no list")
	objs, _, _ := source.Kept[T](reports[first].List.Items)
	require.Len(t, objs, 1)
	assert.Equal(t, index.Key{Namespace: "ns", Name: "a"}, index.KeyOf(objs[0]))
}

func TestFromFactoryOfGeneratedInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		factory := informers.NewSharedInformerFactory(fake.NewClientset(sharedPod("a", 1)), 0)
		factoryRun(t, adapters.FromFactory[*corev1.Pod](factory, sharedPods), factory)
	})
}

func TestFromFactoryOfDynamicInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := dynamicfake.NewSimpleDynamicClient(clientgoscheme.Scheme, sharedPod("a", 1))
		factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
		factoryRun(t, adapters.FromDynamicFactory[*unstructured.Unstructured](factory, sharedPods), factory)
	})
}

func TestFromFactoryOfMetadataInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scheme := runtime.NewScheme()
		require.NoError(t, metav1.AddMetaToScheme(scheme))
		client := metadatafake.NewSimpleMetadataClient(scheme, &metav1.PartialObjectMetadata{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"},
		})
		factory := metadatainformer.NewSharedInformerFactory(client, 0)
		factoryRun(t, adapters.FromDynamicFactory[*metav1.PartialObjectMetadata](factory, sharedPods), factory)
	})
}

func TestFromFactoryErrors(t *testing.T) {
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	unknown := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}
	gadgets := typed.NewInformer(adapters.FromFactory[*corev1.Pod](factory, unknown), typed.WithName("gadgets"))
	err := gadgets.Run(t.Context())
	require.ErrorContains(t, err, "informer gadgets: no shared informer of *v1.Pod for resource example.com/v1, Resource=gadgets: ")
	assert.ErrorContains(t, gadgets.WaitForSync(t.Context()), "no shared informer of *v1.Pod")

	err = typed.NewInformer(adapters.FromFactory[*corev1.Pod, informers.GenericInformer](nil, sharedPods)).Run(t.Context())
	assert.ErrorContains(t, err, "factory is nil")
	err = typed.NewInformer(adapters.FromDynamicFactory[*corev1.Pod, informers.GenericInformer](nil, sharedPods)).Run(t.Context())
	assert.ErrorContains(t, err, "factory is nil")
	err = typed.NewInformer(adapters.FromFactory[*corev1.Pod](factoryWithout{}, sharedPods)).Run(t.Context())
	assert.ErrorContains(t, err, "the factory has no informer for it")
}

// TestFromFactoryNamesTheResource in errors, as client-go's listers for any resource do: the
// factory's, whatever the type of objects.
func TestFromFactoryNamesTheResource(t *testing.T) {
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	resource := appsv1.SchemeGroupVersion.WithResource("deployments")
	objects := typed.NewInformer(adapters.FromFactory[*corev1.Pod](factory, resource))
	assert.Equal(t, "*v1.Pod of deployments.apps", objects.Name())
	assert.Equal(t, "*v1.Pod", typed.NewInformer(adapters.FromFactory[*corev1.Pod](factory, sharedPods)).Name())
	generic, err := factory.ForResource(resource)
	require.NoError(t, err)
	_, theirs := generic.Lister().ByNamespace("shop").Get("x")
	_, ours := lister.New(objects).Namespace("shop").Get("x")
	assert.Equal(t, theirs, ours)
}

// factoryWithout returns neither an informer nor an error.
type factoryWithout struct{}

func (factoryWithout) ForResource(schema.GroupVersionResource) (informers.GenericInformer, error) {
	return nil, nil
}

// An informer of the wrong type rejects the factory's objects, and reports it.
func TestFromFactoryOfAnotherType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		factory := informers.NewSharedInformerFactory(fake.NewClientset(node), 0)
		pods := typed.NewInformer(adapters.FromFactory[*corev1.Pod](factory, corev1.SchemeGroupVersion.WithResource("nodes")))
		ctx, cancel := context.WithCancelCause(t.Context())
		factory.StartWithContext(ctx)
		t.Cleanup(func() {
			cancel(errors.New("end of test"))
			factory.Shutdown()
		})
		sharedRun(t, pods.Run, nil)
		ctx, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		assert.ErrorContains(t, pods.WaitForSync(ctx), "all 1 objects of the first list were rejected")
		assert.Zero(t, pods.Len())
		assert.Equal(t, 1, pods.Status().Rejected)
	})
}

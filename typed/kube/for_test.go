package kube_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

func TestForSharesEqualRequests(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	other := rig.NewPod("b", "n1")
	other.Namespace = "other"
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "n1"), other))
	f := kube.NewFactory(srv.Config())
	defer f.Shutdown()
	web := labels.SelectorFromSet(labels.Set{"app": "web"})
	lengths := map[string]int{}
	for range 2 {
		for _, opts := range [][]kube.ForOption{
			nil,
			{kube.WithNamespace("other")},
			{kube.WithNamespace("other"), kube.WithLabelSelector(web)},
			{kube.WithLabelSelector(web), kube.WithNamespace("other")},
			{kube.WithFieldSelector(fields.OneTermEqualSelector("metadata.name", "c"))},
			{kube.WithoutWatchList()},
			{kube.WithWatchListTimeout(time.Minute)},
			{kube.WaitForKind()},
		} {
			pods, err := kube.For[*corev1.Pod](f, opts...)
			require.NoError(t, err)
			require.NoError(t, pods.WaitForSync(t.Context()))
			name, host, _ := strings.Cut(pods.Name(), " at ")
			assert.Equal(t, srv.Config().Host, "http://"+host)
			lengths[name] = pods.Len()
		}
	}
	deployments, err := kube.For[*appsv1.Deployment](f)
	require.NoError(t, err)
	require.NoError(t, f.WaitForSync(t.Context()))
	assert.Zero(t, deployments.Len())
	assert.Equal(t, map[string]int{
		"*v1.Pod": 2, "*v1.Pod in other": 1, "*v1.Pod in other labels app=web": 1, "*v1.Pod fields metadata.name=c": 0,
	}, lengths)
	assert.Len(t, f.Status(), 8, "one for each way to ask")
}

// TestForOfUncomparableMappers: client-go's restmapper.NewDiscoveryRESTMapper returns one.
func TestForOfUncomparableMappers(t *testing.T) {
	t.Parallel()
	pods := meta.NewDefaultRESTMapper(nil)
	pods.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	mapper := kube.WithRESTMapper(meta.MultiRESTMapper{pods})
	f := kube.NewFactory(apitest.Start(t).Config(), mapper)
	defer f.Shutdown()
	for range 2 {
		shared, err := kube.For[*corev1.Pod](f)
		require.NoError(t, err)
		require.NoError(t, shared.WaitForSync(t.Context()))
	}
	assert.Len(t, f.Status(), 1, "the mapper of one option is the same one")
}

func TestForChecksItsArguments(t *testing.T) {
	f := kube.NewFactory(apitest.Start(t).Config())
	defer f.Shutdown()
	_, err := kube.For[*corev1.Pod](f, kube.WithNamespace("a/b"))
	assert.ErrorContains(t, err, `informer *v1.Pod: the namespace "a/b"`)
	_, err = kube.For[*Network](f)
	assert.ErrorContains(t, err, "*kube_test.Network")
	none := kube.NewFactory(nil)
	defer none.Shutdown()
	_, err = kube.For[*corev1.Pod](none)
	assert.ErrorContains(t, err, "configuration is nil")
	assert.Empty(t, f.Status())
}

// TestForOfANameWithoutNamespace: a key that the kind cannot have is an error, even if there is an informer
// of the objects of that name.
func TestForOfANameWithoutNamespace(t *testing.T) {
	f := kube.NewFactory(apitest.Start(t).Config())
	defer f.Shutdown()
	_, err := kube.For[*corev1.Pod](f, kube.WithFieldSelector(fields.OneTermEqualSelector("metadata.name", "a")))
	require.NoError(t, err)
	_, err = kube.For[*corev1.Pod](f, kube.WithName(index.Key{Name: "a"}))
	assert.ErrorContains(t, err, "the key has no namespace: WithName names a, and pods have one")
	assert.Len(t, f.Status(), 1)
}

func TestForTakesOptionsOfItsInformer(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "n1")))
	f := kube.NewFactory(srv.Config())
	defer f.Shutdown()
	drop := func(p *corev1.Pod) (*corev1.Pod, error) {
		p.Spec.NodeName = "dropped"
		return p, nil
	}
	opts := []kube.ForOption{kube.WithInformerOptions(typed.WithTransform(drop)), kube.WithNamespace("default"), kube.WithInformerOptions(typed.WithName("mine"))}
	pods, err := kube.For[*corev1.Pod](f, opts...)
	require.NoError(t, err)
	require.NoError(t, pods.WaitForSync(t.Context()))
	assert.Equal(t, "mine", pods.Name())
	assert.Equal(t, "dropped", pods.List()[0].Spec.NodeName)
	_, err = kube.For[*corev1.Pod](f, opts...)
	assert.NoError(t, err)
	_, err = kube.For[*corev1.Pod](f, kube.WithNamespace("default"))
	assert.ErrorContains(t, err, "informer *v1.Pod in default at "+strings.TrimPrefix(srv.Config().Host, "http://")+": it is in use with other options: WithName is not the same")
	_, err = kube.For[*corev1.Pod](f, nil)
	assert.ErrorContains(t, err, "informer *v1.Pod: option is nil")
	_, err = kube.For[*corev1.Pod](f, kube.WithInformerOptions(nil))
	assert.ErrorContains(t, err, "option is nil")
	_, err = kube.For[*corev1.Pod](nil)
	assert.ErrorContains(t, err, "factory is nil")
}

func TestForRefusesOptionsOfOneInformer(t *testing.T) {
	f := kube.NewFactory(apitest.Start(t).Config(), kube.WithInformerOptions(typed.WithName("pods")))
	defer f.Shutdown()
	_, err := kube.For[*corev1.Pod](f)
	assert.ErrorContains(t, err, "WithName was given to NewFactory")
}

// TestForOfAnUnusableSource: each request for an informer whose source cannot be used gets the error, and
// none starts the informer.
func TestForOfAnUnusableSource(t *testing.T) {
	f := kube.NewFactory(apitest.Start(t).Config(), kube.WithInformerOptions(typed.WithGrace(time.Hour)))
	defer f.Shutdown()
	for range 100 {
		_, err := kube.For[*Network](f)
		require.ErrorContains(t, err, "source of *kube_test.Network: ")
		require.Empty(t, f.Status())
	}
}

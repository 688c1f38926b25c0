package typed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/internal/rig"
	"github.com/kubetyped/informer/typed/typedtest"
)

func TestForSharesWhatIsTheSame(t *testing.T) {
	t.Parallel()
	srv := typedtest.Start(t)
	other := rig.NewPod("b", "n1")
	other.Namespace = "other"
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "n1"), other))
	f := typed.NewFactory(srv.Config())
	defer f.Shutdown()
	web := labels.SelectorFromSet(labels.Set{"app": "web"})
	lengths := map[string]int{}
	for range 2 {
		for _, opts := range [][]typed.ForOption{
			nil,
			{typed.WithNamespace("other")},
			{typed.WithNamespace("other"), typed.WithLabelSelector(web)},
			{typed.WithLabelSelector(web), typed.WithNamespace("other")},
			{typed.WithFieldSelector(fields.OneTermEqualSelector("metadata.name", "c"))},
			{typed.WithoutWatchList()},
			{typed.WithWatchListTimeout(time.Minute)},
		} {
			pods, err := typed.For[*corev1.Pod](f, opts...)
			require.NoError(t, err)
			require.NoError(t, pods.WaitForSync(t.Context()))
			lengths[pods.Name()] = pods.Len()
		}
	}
	nodes, err := typed.For[*corev1.Node](f)
	require.NoError(t, err)
	require.NoError(t, f.WaitForSync(t.Context()))
	assert.Zero(t, nodes.Len())
	assert.Equal(t, map[string]int{
		"*v1.Pod": 2, "*v1.Pod in other": 1, "*v1.Pod in other labels app=web": 1, "*v1.Pod fields metadata.name=c": 0,
	}, lengths)
	assert.Len(t, f.Status(), 7, "one for each way to ask")
}

func TestForChecksItsArguments(t *testing.T) {
	f := typed.NewFactory(typedtest.Start(t).Config())
	defer f.Shutdown()
	_, err := typed.For[*corev1.Pod](f, typed.WithNamespace("a/b"))
	assert.ErrorContains(t, err, `informer *v1.Pod: the namespace "a/b"`)
	_, err = typed.For[*rig.Thing](f)
	assert.ErrorContains(t, err, "*rig.Thing")
	none := typed.NewFactory(nil)
	defer none.Shutdown()
	_, err = typed.For[*corev1.Pod](none)
	assert.ErrorContains(t, err, "the configuration is nil")
	assert.Empty(t, f.Status())
}

package adapters_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestFromSharedVersionOfEarlyObjects: if a shared informer has own writes, or the objects of one
// namespace before those of another, versions of these objects say nothing about the rest.
func TestFromSharedVersionOfEarlyObjects(t *testing.T) {
	for name, of := range map[string]struct {
		shared func(kubernetes.Interface, *kube.Writes) (shared cache.SharedIndexInformer, run func(context.Context) error)
		late   string // the namespace whose watch lags
	}{
		"own writes": {func(client kubernetes.Interface, writes *kube.Writes) (cache.SharedIndexInformer, func(context.Context) error) {
			return podsOfFactory(client, informers.WithOwnWrites(writes))
		}, ""},
		"namespaces": {func(client kubernetes.Interface, _ *kube.Writes) (cache.SharedIndexInformer, func(context.Context) error) {
			return podsOfFactory(client, informers.WithNamespaces(source.NewNamespaces("ns", "other"), &corev1.Pod{}))
		}, "other"},
		"namespaces of a typed informer": {func(client kubernetes.Interface, _ *kube.Writes) (cache.SharedIndexInformer, func(context.Context) error) {
			pods := typed.NewInformer(source.FromNamespaces(source.NewNamespaces("ns", "other"), func(namespace string) source.Source[*corev1.Pod] {
				return kube.FromClient(client.CoreV1().Pods(namespace))
			}))
			return adapters.SharedIndexInformer(pods), pods.Run
		}, "other"},
	} {
		for _, before := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", running before", false: ", started after"}[before], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testVersionOfEarlyObjects(t, of.shared, of.late, before) })
			})
		}
	}
}

func podsOfFactory(client kubernetes.Interface, option informers.SharedInformerOption) (cache.SharedIndexInformer, func(context.Context) error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, option)
	return factory.Core().V1().Pods().Informer(), func(ctx context.Context) error {
		factory.StartWithContext(ctx)
		factory.Shutdown()
		return nil
	}
}

func testVersionOfEarlyObjects(t *testing.T, of func(kubernetes.Interface, *kube.Writes) (cache.SharedIndexInformer, func(context.Context) error), late string, before bool) {
	srv, writes := apitest.Start(t), kube.NewWrites()
	hold := srv.Inject(apitest.Fault{Verb: "watch", Namespace: late, Hold: true})
	config := srv.Config()
	config.Wrap(unstreamed)
	client := clientsetOf(t, writes.Config(config))
	shared, run := of(client, writes)
	pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](shared))
	sharedRun(t, run, nil)
	begin := func() {
		sharedRun(t, pods.Run, nil)
		require.NoError(t, pods.WaitForSync(t.Context()))
	}
	time.Sleep(time.Second)
	if before {
		begin()
	}

	missed := pod("missed", "")
	missed.Namespace = "other"
	require.NoError(t, srv.Create(t.Context(), missed))
	made := make([]*corev1.Pod, 3)
	for n := range made {
		var err error
		made[n], err = client.CoreV1().Pods("ns").Create(t.Context(), pod(string(rune('a'+n)), ""), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	time.Sleep(time.Second)
	if !before {
		begin()
	}
	time.Sleep(time.Second)
	synctest.Wait()
	require.Equal(t, 3, pods.Len(), "they came early")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	assert.Error(t, pods.WaitForResourceVersion(ctx, made[0].ResourceVersion), "an object of an earlier version is missing")

	hold.Remove()
	ctx, cancel = context.WithTimeout(t.Context(), 2*time.Minute) // bookmarks
	defer cancel()
	require.NoError(t, pods.WaitForResourceVersion(ctx, made[2].ResourceVersion))
	_, ok := pods.Get(index.KeyOf(missed))
	assert.True(t, ok)
}

// TestFromSharedVersionOfOwnWritesUnderLoad: the version advances, even if events never pause.
func TestFromSharedVersionOfOwnWritesUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, writes := apitest.Start(t), kube.NewWrites()
		client := clientsetOf(t, writes.Config(srv.Config()))
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithOwnWrites(writes))
		pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](factory.Core().V1().Pods().Informer()))
		sharedRun(t, func(ctx context.Context) error {
			factory.StartWithContext(ctx)
			factory.Shutdown()
			return nil
		}, nil)
		sharedRun(t, pods.Run, nil)
		require.NoError(t, pods.WaitForSync(t.Context()))
		last := ""
		for n := range 200 {
			changed := pod("a", "")
			changed.Labels = map[string]string{"n": fmt.Sprint(n)}
			if n == 0 {
				require.NoError(t, srv.Create(t.Context(), changed))
			} else {
				require.NoError(t, srv.Update(t.Context(), changed))
			}
			time.Sleep(time.Millisecond)
			if n%50 == 49 {
				synctest.Wait()
				assert.NotEqual(t, last, pods.ResourceVersion())
				last = pods.ResourceVersion()
			}
		}
	})
}

package proxy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/e2e/proxy"
)

// TestInformerThroughManyCuts writes as fast as it can while every watch is cut
// after some events, and ends with all of it in the cache.
func TestInformerThroughManyCuts(t *testing.T) {
	const cuts, keys = 100, 20
	for _, end := range endings {
		t.Run(end.String(), func(t *testing.T) {
			r := newRig(t)
			for i := range keys {
				r.create(fmt.Sprint("p", i))
			}
			config := r.proxy.Config()
			if end != proxy.Clean {
				// Of HTTP/2, client-go takes it for an error and backs off.
				config.NextProtos = []string{"http/1.1"}
			}
			client := r.clientOf(config)
			factory := informers.NewSharedInformerFactory(client, 0)
			informer := factory.Core().V1().Pods().Informer()
			seen := make(chan string, 1)
			_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, pod any) {
				if last := pod.(*corev1.Pod); last.Labels["last"] != "" {
					seen <- last.ResourceVersion
				}
			}})
			require.NoError(t, err)
			factory.Start(r.ctx.Done())
			t.Cleanup(factory.Shutdown)
			require.True(t, cache.WaitForCacheSync(r.ctx.Done(), informer.HasSynced))
			fault := r.proxy.Inject(proxy.Fault{Verb: "watch", Resource: "pods", End: end, After: 1, UpTo: 8, Seed: 1})
			require.Equal(t, 1, r.proxy.CutWatches("pods", proxy.Clean))

			for i := 0; r.proxy.Cuts("pods") < cuts; i++ {
				require.NoError(t, r.ctx.Err())
				p := pod(fmt.Sprint("p", i%keys))
				p.Labels = map[string]string{"write": fmt.Sprint(i)}
				_, err := client.CoreV1().Pods("default").Update(r.ctx, p, metav1.UpdateOptions{})
				require.NoError(t, err)
			}
			fault.Remove()
			r.proxy.CutWatches("pods", proxy.Clean)
			p := pod("p0")
			p.Labels = map[string]string{"last": "yes"}
			require.NoError(t, r.server.Update(r.ctx, p))

			select {
			case version := <-seen:
				assert.Equal(t, r.server.ResourceVersion(), version)
			case <-r.ctx.Done():
				require.Fail(t, "the last write was not seen")
			}
			list, err := client.CoreV1().Pods("").List(r.ctx, metav1.ListOptions{})
			require.NoError(t, err)
			assert.Len(t, informer.GetStore().List(), len(list.Items))
			for _, want := range list.Items {
				got, ok, err := informer.GetStore().GetByKey("default/" + want.Name)
				require.NoError(t, err)
				require.True(t, ok)
				assert.Equal(t, want.ResourceVersion, got.(*corev1.Pod).ResourceVersion, want.Name)
			}
		})
	}
}

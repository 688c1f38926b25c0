package apitest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// inBubble runs a part of a benchmark in a bubble, for which synctest needs a test.
func inBubble(b *testing.B, run func(t *testing.T)) {
	all := func(string, string) (bool, error) { return true, nil }
	if !testing.RunTests(all, []testing.InternalTest{{Name: b.Name(), F: func(t *testing.T) { synctest.Test(t, run) }}}) {
		b.Fail()
	}
}

// BenchmarkWhere compares the same work over sockets and in a bubble: a request of a generated
// client, and a write until an informer has delivered it. Both sides start their server, so take
// thousands of each: -benchtime 3000x.
func BenchmarkWhere(b *testing.B) {
	request := func(b *testing.B, t testing.TB, srv *apitest.Server) {
		pods := clientset(t, srv, "").CoreV1().Pods("default")
		for range b.N {
			_, err := pods.Get(context.Background(), "p", metav1.GetOptions{})
			require.NoError(t, err)
		}
	}
	event := func(b *testing.B, t testing.TB, srv *apitest.Server) {
		ctx, cancel := context.WithCancel(context.Background())
		informer := typed.NewInformer(kube.FromClient(clientset(t, srv, "").CoreV1().Pods("")))
		told := make(chan struct{}, 1)
		_, err := informer.Handle(typed.HandlerFuncs[*corev1.Pod]{UpdateFunc: func(_, _ *corev1.Pod) { told <- struct{}{} }})
		require.NoError(t, err)
		ended := make(chan error, 1)
		go func() { ended <- informer.Run(ctx) }()
		require.NoError(t, informer.WaitForSync(ctx))
		p := fullPod("p")
		for i := range b.N {
			p.Labels["n"] = fmt.Sprint(i)
			require.NoError(t, srv.Update(ctx, p))
			<-told
		}
		cancel()
		require.NoError(t, <-ended)
	}
	for name, work := range map[string]func(*testing.B, testing.TB, *apitest.Server){"request": request, "event": event} {
		b.Run(name+"/where=sockets", func(b *testing.B) {
			srv := apitest.Start(b, apitest.WithObjects(fullPod("p")))
			work(b, b, srv)
		})
		b.Run(name+"/where=bubble", func(b *testing.B) {
			inBubble(b, func(t *testing.T) {
				srv := apitest.Start(t, apitest.WithObjects(fullPod("p")))
				work(b, t, srv)
			})
		})
	}
}

// BenchmarkVirtualTime lets time go by with an informer that resyncs every ten
// minutes, one write a minute, and, or not, an election that renews its lease every
// two seconds. An operation is a virtual minute.
func BenchmarkVirtualTime(b *testing.B) {
	for _, elects := range []bool{false, true} {
		b.Run(fmt.Sprint("election=", elects), func(b *testing.B) {
			inBubble(b, func(t *testing.T) {
				srv := apitest.Start(t, apitest.WithObjects(fullPod("p")))
				informer := typed.NewInformer(kube.FromClient(clientset(t, srv, "").CoreV1().Pods("")))
				_, err := informer.Handle(typed.HandlerFuncs[*corev1.Pod]{}, typed.WithResync(10*time.Minute))
				require.NoError(t, err)
				background(t, func(ctx context.Context) { _ = informer.Run(ctx) })
				if elects {
					background(t, func(ctx context.Context) { elect(ctx, t, srv) })
				}
				p := fullPod("p")
				for i := range b.N {
					p.Labels["n"] = fmt.Sprint(i)
					require.NoError(t, srv.Update(t.Context(), p))
					time.Sleep(time.Minute)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "minutes/s")
		})
	}
}

// elect takes part in an election, with the waits that are usual.
func elect(ctx context.Context, t *testing.T, srv *apitest.Server) {
	ctx = klog.NewContext(ctx, klog.New(nil))
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, "default", "lead",
		resourcelock.ResourceLockConfig{Identity: "me"}, srv.Config(), 10*time.Second)
	require.NoError(t, err)
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
}

package ctrlruntime

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
)

// TestGatesBetweenListAndWatch: an informer has no objects while its kind is not served, and all of them
// when it is, whenever that changes: while a watch is about to be opened again, too.
func TestGatesBetweenListAndWatch(t *testing.T) {
	for name, closed := range map[string]bool{"it goes": true, "it comes": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				watches := make(chan *watch.RaceFreeFakeWatcher, 10)
				server := toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
					ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
						return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "5"}}}}, nil
					},
					WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
						w := watch.NewRaceFreeFake()
						watches <- w
						return w, nil
					},
				}, notStreamed{})
				g := &gate{of: server, missed: func(error) {}, closed: !closed}
				through := g.listerWatcher()
				change := false
				informer := adapters.NewSharedIndexInformer(toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
					ListWithContextFunc: toolscache.ToListerWatcherWithContext(through).ListWithContext,
					WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
						if change {
							g.set(closed)
						}
						return toolscache.ToListerWatcherWithContext(through).WatchWithContext(ctx, opts)
					},
				}, notStreamed{}), &corev1.Pod{}, 0, toolscache.Indexers{})
				change = !closed
				stop := runInformer(t, informer)
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Len(t, informer.GetStore().List(), 1)
				if closed {
					change = true
					(<-watches).Stop()
					time.Sleep(time.Minute)
					synctest.Wait()
					assert.Empty(t, informer.GetStore().List())
				}
				stop()
			})
		})
	}
}

// TestGateClosesBetweenPages: a list whose kind goes between two pages does not keep the objects of
// the first one.
func TestGateClosesBetweenPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{missed: func(error) {}}
		pages := 0
		g.of = toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				pages++
				g.set(true)
				return &corev1.PodList{
					ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"},
					Items:    []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "5"}}},
				}, nil
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return watch.NewRaceFreeFake(), nil
			},
		}, notStreamed{})
		informer := adapters.NewSharedIndexInformer(g.listerWatcher(), &corev1.Pod{}, 0, toolscache.Indexers{})
		stop := runInformer(t, informer)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, 1, pages)
		assert.True(t, informer.HasSynced())
		assert.Empty(t, informer.GetStore().List())
		stop()
	})
}

// runInformer runs an informer until stop is called, which waits for its end.
func runInformer(t *testing.T, informer toolscache.SharedIndexInformer) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// notStreamed marks a ListerWatcher that cannot stream lists.
type notStreamed struct{}

func (notStreamed) IsWatchListSemanticsUnSupported() bool { return true }

// TestStoppedWatchesLeaveNoGoroutine: a watch of metadata that is stopped with an event on its way ends the
// goroutine that hands the event on, as the bubble checks.
func TestStoppedWatchesLeaveNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := watch.NewRaceFreeFake()
		g := &gate{missed: func(error) {}, of: &toolscache.ListWatch{
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return watch.Filter(events, func(e watch.Event) (watch.Event, bool) { return e, true }), nil
			},
		}}
		w, err := toolscache.ToListerWatcherWithContext(g.listerWatcher()).WatchWithContext(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		events.Add(&corev1.Pod{})
		synctest.Wait()
		w.Stop()
	})
}

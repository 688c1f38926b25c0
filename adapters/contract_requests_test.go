package adapters_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// API servers, proxies and fakes recognize informers by the options of their requests.
func TestContractListAndWatchOptions(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.run()
		assert.Equal(t, metav1.ListOptions{ResourceVersion: "0", Limit: 500}, r.script.listCalls()[0].options)
		options := r.script.watchCalls()[0].options
		require.NotNil(t, options.TimeoutSeconds)
		assert.GreaterOrEqual(t, *options.TimeoutSeconds, int64(5*60))
		assert.LessOrEqual(t, *options.TimeoutSeconds, int64(10*60))
		options.TimeoutSeconds = nil
		assert.Equal(t, metav1.ListOptions{ResourceVersion: "10", AllowWatchBookmarks: true}, options)

		r.send(bookmark("15"))
		r.relist("20")
		assert.Equal(t, metav1.ListOptions{ResourceVersion: "15"}, r.script.listCalls()[1].options, "one that is not served from etcd")
		assert.Equal(t, "20", r.script.watchCalls()[1].options.ResourceVersion)
	})
}

func TestContractPages(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		pages := map[string]*corev1.PodList{
			"":      {ListMeta: metav1.ListMeta{ResourceVersion: "10", Continue: "two"}, Items: []corev1.Pod{*pod("a", "1")}},
			"two":   {ListMeta: metav1.ListMeta{ResourceVersion: "10", Continue: "three"}, Items: []corev1.Pod{*pod("c", "2")}},
			"three": {ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: []corev1.Pod{*pod("b", "3")}},
		}
		r.script.answers(func(options metav1.ListOptions) (runtime.Object, error) { return pages[options.Continue], nil })
		rec := r.handle()
		r.run()
		assert.Equal(t, []string{"initial ns/a@1", "initial ns/c@2", "initial ns/b@3"}, rec.next())
		assert.Equal(t, "10", r.LastSyncResourceVersion())
		calls := r.script.listCalls()
		require.Len(t, calls, 3)
		assert.Equal(t, metav1.ListOptions{Limit: 500, Continue: "two"}, calls[1].options)
		r.send(expired())
		r.script.awaitLists(6)
		assert.Equal(t, metav1.ListOptions{Limit: 500, ResourceVersion: "10"}, r.script.listCalls()[3].options, "what came in pages is asked for in pages")
	})
}

func TestContractPagesExpire(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		faults := watchFaults(t, r)
		r.script.answers(func(options metav1.ListOptions) (runtime.Object, error) {
			switch {
			case options.Continue != "":
				return nil, apierrors.NewResourceExpired("continue")
			case options.Limit != 0:
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "10", Continue: "two"}, Items: []corev1.Pod{*pod("a", "1")}}, nil
			default:
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "11"}, Items: []corev1.Pod{*pod("a", "1"), *pod("b", "2")}}, nil
			}
		})
		r.run()
		assert.Empty(t, *faults)
		assert.Equal(t, "11", r.LastSyncResourceVersion())
		assert.Len(t, r.GetStore().List(), 2)
	})
}

// Failed lists are tried again after 0.8 s, then twice as long each time up to
// 30 s, and up to twice of that by chance. After two minutes that starts again,
// however well or badly things went in between.
func TestContractBackoff(t *testing.T) {
	const first, longest, reset = 800 * time.Millisecond, 30 * time.Second, 2 * time.Minute
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.answers(func(metav1.ListOptions) (runtime.Object, error) { return nil, errors.New("no") })
		r.run()
		r.script.awaitLists(25)
		calls := r.script.listCalls()
		begin, least, resets := calls[0].at, first, 0
		for i := 1; i < len(calls); i++ {
			if failed := calls[i-1].at; failed.Sub(begin) > reset {
				begin, least = failed, first
				resets++
			}
			waited := calls[i].at.Sub(calls[i-1].at)
			assert.GreaterOrEqual(t, waited, least, "before list %d", i)
			assert.LessOrEqual(t, waited, 2*least, "before list %d", i)
			least = min(2*least, longest)
		}
		assert.Positive(t, resets)
	})
}

func TestContractBackoffAfterQuiet(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.fails(assert.AnError, assert.AnError, assert.AnError, assert.AnError, assert.AnError)
		r.run()
		r.script.awaitLists(6)
		time.Sleep(3 * time.Minute)
		broken := time.Now()
		r.relist("20")
		waited := r.script.listCalls()[6].at.Sub(broken)
		assert.LessOrEqual(t, waited, 1600*time.Millisecond)
	})
}

// A server that has too many requests is asked again for the watch, not the list.
func TestContractBackoffOfWatches(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		tooMany := apierrors.NewTooManyRequests("later", 1)
		r.script.refuses(tooMany, tooMany, tooMany, tooMany)
		r.run()
		r.script.awaitWatches(5)
		calls := r.script.watchCalls()
		for i := 2; i < len(calls); i++ {
			least := 800 * time.Millisecond << (i - 1)
			waited := calls[i].at.Sub(calls[i-1].at)
			assert.GreaterOrEqual(t, waited, least)
			assert.LessOrEqual(t, waited, 2*least)
		}
		assert.Len(t, r.script.listCalls(), 1)
	})
}

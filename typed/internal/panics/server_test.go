package panics_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/kube/election"
	"github.com/kubetyped/informer/typed/shard"
	"github.com/kubetyped/informer/typed/source"
)

// bubbled starts a server in the bubble of a test.
func bubbled(t *testing.T) *apitest.Server { return apitest.Start(t) }

// picky is a Pod that decodes itself.
type picky struct{ metav1.ObjectMeta }

// pickyName is the name of those that cannot be decoded.
const pickyName = "bad"

func (p *picky) UnmarshalJSON(text []byte) error {
	var fields struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	err := json.Unmarshal(text, &fields)
	p.ObjectMeta = fields.Metadata
	if p.Name == pickyName && p.Labels["app"] == "web" {
		usersFunction()
	}
	return err
}

// serverRows are those of functions called in requests to an API server, or to a page.
var serverRows = map[string]row{
	"json.Unmarshaler in a list": {run: func(t *testing.T, p *planted) {
		decodes(t, true, kube.WithoutWatchList())
	}},
	"json.Unmarshaler in a watch": {run: func(t *testing.T, p *planted) {
		decodes(t, false, kube.WithoutWatchList())
	}},
	"cache.ListerWatcher": {run: func(t *testing.T, p *planted) {
		lw := &cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				p.here()
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.Pod{*rig.NewPod("a", "")}}, nil
			},
			WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
				return watch.NewFake(), nil
			},
		}
		end := recorded(t, kube.FromListerWatcher[*corev1.Pod](lw, kube.WithoutWatchList()))
		time.Sleep(time.Minute)
		reports, errs := end.Take()
		lists := slices.DeleteFunc(reports, func(r sinktest.Report[*corev1.Pod]) bool { return r.Method != "Replace" })
		require.NotEmpty(t, lists, "it was listed again")
		assert.Len(t, lists[0].List.Items, 1)
		assert.ErrorContains(t, errors.Join(errs...), "the function that lists or watches has panicked: "+planting)
	}},
	"Elector.Elect": {run: func(t *testing.T, p *planted) {
		e, err := election.NewElector(bubbled(t).Config(), "default", "lease")
		require.NoError(t, err)
		err = e.Elect(t.Context(), func(context.Context) { p.here() })
		assert.ErrorContains(t, err, "the function that is called has panicked: "+planting)
		assert.NoError(t, e.Elect(t.Context(), func(context.Context) {}), "the lead was given up")
	}},
	"shard.By": {contained: true, run: func(t *testing.T, p *planted) {
		group, err := shard.New(bubbled(t).Config(), "default", "group")
		require.NoError(t, err)
		t.Cleanup(background(group.Run))
		informer := start[thing](t, shard.NewSource(group, func() source.Source[thing] {
			return lists(rig.At("a", 1), rig.At("bad", 1))
		}, shard.By("name", func(o thing) string {
			if o.Name == "bad" {
				p.here()
			}
			return o.Name
		})))
		time.Sleep(time.Minute)
		assert.NoError(t, informer.WaitForSync(t.Context()))
		assert.Equal(t, 1, informer.Len())
		assert.ErrorContains(t, informer.Rejected(rig.Key("bad")), planting)
	}},
	"inspect.WithDeduplication": {contained: true, run: func(t *testing.T, p *planted) {
		showsNextPage(t, inspect.WithDeduplication(func() snapshot.Deduplication { p.here(); return snapshot.Deduplication{} }))
	}},
	"inspect.WithControllers": {contained: true, run: func(t *testing.T, p *planted) {
		showsNextPage(t, inspect.WithControllers(func() []snapshot.Controller { p.here(); return nil }))
	}},
	"inspect.WithProblems": {contained: true, run: func(t *testing.T, p *planted) {
		showsNextPage(t, inspect.WithProblems(func() []snapshot.Problem { p.here(); return nil }))
	}},
}

// showsNextPage: a page whose option panics once is an error, and the next one is whole.
func showsNextPage(t *testing.T, option inspect.Option) {
	page, err := inspect.New(option)
	require.NoError(t, err)
	get := func() int {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		return w.Code
	}
	assert.Equal(t, http.StatusInternalServerError, get())
	assert.Equal(t, http.StatusOK, get())
}

// decodes delivers an object that panics when it is decoded, in a list or in a watch: it is
// rejected, by its key, and stored when it can be decoded.
func decodes(t *testing.T, listed bool, opts ...kube.SourceOption) {
	srv := bubbled(t)
	bad, key := rig.NewPod(pickyName, ""), index.Key{Namespace: "default", Name: pickyName}
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "")))
	if listed {
		require.NoError(t, srv.Create(t.Context(), bad))
	}
	informer := start(t, kube.FromREST[*picky](srv.Config(), append(opts, kube.WithResource(corev1.SchemeGroupVersion.WithResource("pods")))...))
	require.NoError(t, informer.WaitForSync(t.Context()))
	if !listed {
		require.NoError(t, srv.Create(t.Context(), bad))
	}
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("b", "")))
	time.Sleep(time.Second)
	synctest.Wait()
	assert.Equal(t, 2, informer.Len())
	assert.ErrorContains(t, informer.Rejected(key), "has panicked: "+planting)
	bad.Labels = nil
	require.NoError(t, srv.Update(t.Context(), bad))
	time.Sleep(time.Second)
	synctest.Wait()
	assert.Equal(t, 3, informer.Len())
	assert.Zero(t, informer.Status().RejectedNow)
}

package ctrlruntime_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// recorder is a manager that records the handlers of its servers.
type recorder struct {
	manager.Manager
	pages  map[string]http.Handler
	checks map[string]healthz.Checker
}

func (r *recorder) AddMetricsServerExtraHandler(path string, handler http.Handler) error {
	r.pages[path] = handler
	return r.Manager.AddMetricsServerExtraHandler(path, handler)
}

func (r *recorder) AddReadyzCheck(name string, check healthz.Checker) error {
	r.checks[name] = check
	return r.Manager.AddReadyzCheck(name, check)
}

func newRecorder(t *testing.T, of *rest.Config, newCache cache.NewCacheFunc) *recorder {
	t.Helper()
	mgr, err := ctrl.NewManager(of, ctrl.Options{
		Scheme: withWidgets, NewCache: newCache, Logger: logr.Discard(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	require.NoError(t, err)
	return &recorder{mgr, map[string]http.Handler{}, map[string]healthz.Checker{}}
}

// report returns what the page shows, as JSON.
func (r *recorder) report(t *testing.T) (report snapshot.Report) {
	t.Helper()
	answer := httptest.NewRecorder()
	r.pages[ctrlruntime.InspectPath].ServeHTTP(answer, httptest.NewRequest(http.MethodGet, ctrlruntime.InspectPath+"?format=json", nil))
	require.Equal(t, http.StatusOK, answer.Code)
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&report))
	return report
}

func (r *recorder) ready() error { return r.checks["informers"](nil) }

// run runs the manager until stop is called, which waits for its start and its end.
func (r *recorder) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background()) // a cleanup ends it
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		assert.NoError(t, r.Start(ctx))
	}()
	stop = func() {
		select {
		case <-r.Elected(): // a manager that is stopped while it starts may never end: runnableGroup.Start
		case <-ended:
		}
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return stop
}

func problemsNamed(report snapshot.Report, reason string) (names []string) {
	for _, p := range report.Problems {
		if p.Reason == reason {
			names = append(names, p.Name)
		}
	}
	return names
}

// hasMetric reports whether the registry of controller-runtime has a metric.
func hasMetric(t *testing.T, name string) bool {
	t.Helper()
	families, err := ctrlmetrics.Registry.(prometheus.Gatherer).Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == name {
			return true
		}
	}
	return false
}

// TestInspect: the page shows the informers of the cache by their kinds, kinds that are missing
// or cached twice, and controllers with what controller-runtime's metrics say. The metrics are
// in the registry while the manager runs; readiness fails as long as an informer is not synced,
// not for a kind that is missing, and names both.
func TestInspect(t *testing.T) {
	srv := newKindServer(t)
	require.NoError(t, srv.Create(t.Context(), newWidget("a", 1), configMap("one", "settings", 0), configMap("one", "bad", 0)))
	mgr := newRecorder(t, srv.config(), ctrlruntime.NewCache(ctrlruntime.WithDeduplication()))
	inspector, err := ctrlruntime.Inspect(mgr)
	require.NoError(t, err)
	assert.NoError(t, mgr.ready(), "nothing is waited for")

	name := "inspected " + srv.URL // metrics are those of the process
	reconciled := make(chan string, 10)
	require.NoError(t, ctrl.NewControllerManagedBy(mgr).Named(name).For(&corev1.ConfigMap{}).Owns(&widget{}).
		Watches(metadataOf(podKind), &handler.EnqueueRequestForObject{}).Complete(reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
		reconciled <- r.Name
		if r.Name == "bad" {
			return reconcile.Result{}, reconcile.TerminalError(io.ErrUnexpectedEOF)
		}
		return reconcile.Result{}, nil
	})))
	for _, obj := range []client.Object{&corev1.Pod{}, &corev1.ConfigMap{}} {
		_, err := mgr.GetCache().GetInformer(t.Context(), obj, cache.BlockUntilSynced(false))
		require.NoError(t, err)
	}
	_, err = mgr.GetCache().GetInformer(t.Context(), &widget{})
	require.NoError(t, err)
	assert.EqualError(t, mgr.ready(), "informer ConfigMap was not started\ninformer Pod was not started\nWidget.shop.example.com waits: no matches for kind \"Widget\" in version \"shop.example.com/v1\"")

	stop := mgr.run(t)
	assert.ElementsMatch(t, []string{"settings", "bad"}, []string{<-reconciled, <-reconciled})
	require.Eventually(t, func() bool { return mgr.ready() == nil }, time.Minute, time.Millisecond)
	var report snapshot.Report
	require.Eventually(t, func() bool {
		report = mgr.report(t)
		return len(report.Controllers) > 0 && controllerNamed(report, name).Failed == 1 && controllerNamed(report, name).Succeeded == 1
	}, time.Minute, time.Millisecond)
	var names []string
	for i := range report.Informers {
		of := &report.Informers[i]
		names = append(names, of.Name+" "+of.Kind)
		assert.Equal(t, "balance.invalid", of.Host)
	}
	assert.ElementsMatch(t, []string{"ConfigMap ConfigMap", "Pod Pod", "Pod (metadata) Pod"}, names)
	assert.Len(t, inspector.Informers(), 3)
	assert.Equal(t, []string{"Widget.shop.example.com"}, problemsNamed(report, "KindMissing"))
	assert.Equal(t, []string{"Pod (metadata)"}, problemsNamed(report, "CachedTwice"))
	of := controllerNamed(report, name)
	assert.Equal(t, 1, of.Workers)
	assert.EqualValues(t, 1, of.TerminalErrors)
	assert.EqualValues(t, 2, of.Added)
	assert.Positive(t, of.MeanSeconds)
	assert.NotNil(t, report.Deduplication)
	assert.True(t, hasMetric(t, "kubetyped_informer_objects"))

	_, err = ctrlruntime.Inspect(newRecorder(t, srv.config(), ctrlruntime.NewCache()))
	assert.ErrorContains(t, err, "inspect manager: ")
	srv.served.Store(true)
	require.Eventually(t, func() bool { return len(mgr.report(t).Informers) == 4 && mgr.ready() == nil }, time.Minute, 10*time.Millisecond)
	assert.Empty(t, problemsNamed(mgr.report(t), "KindMissing"))
	stop()
	assert.False(t, hasMetric(t, "kubetyped_informer_objects"), "the manager has ended")
}

func controllerNamed(report snapshot.Report, name string) snapshot.Controller {
	for _, of := range report.Controllers {
		if of.Name == name {
			return of
		}
	}
	return snapshot.Controller{}
}

// TestInspectOfTwoManagers: there is one registry, so one manager at a time is inspected.
func TestInspectOfTwoManagers(t *testing.T) {
	srv := newKindServer(t)
	first, second := newRecorder(t, srv.config(), ctrlruntime.NewCache()), newRecorder(t, srv.config(), ctrlruntime.NewCache())
	_, err := ctrlruntime.Inspect(first)
	require.NoError(t, err)
	_, err = ctrlruntime.Inspect(second)
	assert.ErrorContains(t, err, "inspect manager: another manager of this process is inspected, until it ends")
	stop := first.run(t)
	<-first.Elected()
	stop()
	_, err = ctrlruntime.Inspect(second)
	require.NoError(t, err)
	stop = second.run(t)
	<-second.Elected()
	stop()
}

// TestInspectRejects: invalid arguments are errors, and leave nothing in the registry.
func TestInspectRejects(t *testing.T) {
	srv := newKindServer(t)
	_, err := ctrlruntime.Inspect(nil)
	assert.ErrorContains(t, err, "inspect manager: it is nil")
	_, err = ctrlruntime.Inspect(newRecorder(t, srv.config(), nil))
	assert.ErrorContains(t, err, "set options.NewCache of the manager to it")
	_, err = ctrlruntime.Inspect(newRecorder(t, srv.config(), ctrlruntime.NewCache()), nil)
	assert.ErrorContains(t, err, "option is nil")
	mgr := newRecorder(t, srv.config(), ctrlruntime.NewCache())
	require.NoError(t, mgr.Manager.AddReadyzCheck("x", healthz.Ping))
	stop := mgr.run(t)
	<-mgr.Elected()
	_, err = ctrlruntime.Inspect(mgr)
	assert.ErrorContains(t, err, "already")
	assert.False(t, hasMetric(t, "kubetyped_informer_objects"))
	stop()
}

// TestInspectOtherCaches: the page and the readiness check have the informers of another cache that
// is added.
func TestInspectOtherCaches(t *testing.T) {
	srv := startWithWidgets(t)
	mgr := newRecorder(t, srv.Config(), ctrlruntime.NewCache())
	inspector, err := ctrlruntime.Inspect(mgr)
	require.NoError(t, err)
	other, err := ctrlruntime.NewCache()(mgr.GetConfig(), cache.Options{Scheme: withWidgets, HTTPClient: mgr.GetHTTPClient(), Mapper: mgr.GetRESTMapper()})
	require.NoError(t, err)
	require.NoError(t, inspector.Add(inspect.WithFactories(other.(inspect.Factory))))
	_, err = other.GetInformer(t.Context(), &widget{}, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	require.Error(t, mgr.ready())
	require.NoError(t, mgr.Add(other))
	stop := mgr.run(t)
	assert.EventuallyWithT(t, func(t *assert.CollectT) { assert.NoError(t, mgr.ready()) }, time.Minute, time.Millisecond)
	informers := mgr.report(t).Informers
	require.Len(t, informers, 1)
	assert.Equal(t, "Widget.shop.example.com", informers[0].Name)
	stop()
}

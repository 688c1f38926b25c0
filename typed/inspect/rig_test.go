package inspect_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/shard"
)

// newInspector returns an Inspector of parts.
func newInspector(t testing.TB, opts ...inspect.Option) *inspect.Inspector {
	t.Helper()
	inspector, err := inspect.New(opts...)
	require.NoError(t, err)
	return inspector
}

// get returns the answer to a GET.
func get(t testing.TB, handler http.Handler, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodGet, target, nil))
	return w
}

// page returns the text of a page.
func page(t testing.TB, handler http.Handler, target string) string {
	t.Helper()
	w := get(t, handler, target)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	require.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
	return w.Body.String()
}

// decoded returns what is in JSON.
func decoded[T any](t testing.TB, handler http.Handler, target string) (v T) {
	t.Helper()
	w := get(t, handler, target)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &v))
	return v
}

// reportOf returns the report that an Inspector serves.
func reportOf(t testing.TB, inspector *inspect.Inspector) snapshot.Report {
	t.Helper()
	return decoded[snapshot.Report](t, inspector, "/?format=json")
}

// problem returns the first problem of a reason, and fails if there is none.
func problem(t testing.TB, r *snapshot.Report, reason string) snapshot.Problem {
	t.Helper()
	for _, p := range r.Problems {
		if p.Reason == reason {
			return p
		}
	}
	require.Fail(t, "there is no problem "+reason, "%+v", r.Problems)
	return snapshot.Problem{}
}

// fixedGroup is a member of a shard group with a fixed status.
type fixedGroup shard.Status

func (fixedGroup) Name() string           { return "replicas" }
func (g fixedGroup) Status() shard.Status { return shard.Status(g) }

// fixedFleet is a cluster set with a fixed status.
type fixedFleet []fleet.ClusterStatus

func (f fixedFleet) Status() []fleet.ClusterStatus { return f }

// fixedWrites are own writes that return a fixed status.
type fixedWrites struct{ status report.Writes }

func (w *fixedWrites) Status() report.Writes { return w.status }

// fixedExpectations are expectations with a fixed report.
type fixedExpectations []control.ExpectationReport

func (e fixedExpectations) Stats() control.ExpectationStats {
	return control.ExpectationStats{Keys: len(e), Waiting: 1, PutOff: 7, Expired: 3}
}

func (e fixedExpectations) Report(n int) []control.ExpectationReport { return e[:min(n, len(e))] }

// heap is what an informer says that its objects weigh.
type heap = report.Heap

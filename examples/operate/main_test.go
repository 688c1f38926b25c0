package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// troubles are those of the program: the reasons of problems, and the names they must contain.
var troubles = map[string]string{
	"Forbidden":  "*v1.Secret",
	"HeapLarge":  "*v1.ConfigMap",
	"Handler":    "billing", // slow, and behind
	"KeyFailing": "shop/checkout",
}

// missing returns the troubles that a report does not have.
func missing(r snapshot.Report) (missing []string) {
	for reason, names := range troubles {
		found := false
		for _, p := range r.Problems {
			text := strings.Join([]string{p.Name, p.Key, p.Text, p.Detail}, " ")
			found = found || strings.HasPrefix(p.Reason, reason) && strings.Contains(text, names)
		}
		if !found {
			missing = append(missing, reason+" "+names)
		}
	}
	return missing
}

// TestTheTroublesAreOnThePage runs the program for a minute, and finds each of its troubles among
// the problems on the page.
func TestTheTroublesAreOnThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		srv, err := newCluster(ctx)
		require.NoError(t, err)
		p, err := newProgram(srv.Config())
		require.NoError(t, err)
		var group errgroup.Group
		group.Go(func() error { return p.run(ctx) })
		group.Go(func() error { return change(ctx, srv) })

		get := func(query string) string {
			answer := httptest.NewRecorder()
			p.inspector.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/debug/informers/"+query, nil))
			assert.Equal(t, http.StatusOK, answer.Code)
			return answer.Body.String()
		}
		time.Sleep(time.Minute)
		var report snapshot.Report
		require.NoError(t, json.Unmarshal([]byte(get("?format=json")), &report))
		assert.Empty(t, missing(report), "%v", report.Problems)
		assert.LessOrEqual(t, len(report.Problems), 8, "nobody reads more")
		page := get("")
		for _, names := range troubles {
			assert.Contains(t, page, strings.TrimPrefix(names, "*v1."))
		}
		assert.Contains(t, get("?key=shop/checkout"), "the quota of 50 is used up")

		stop()
		if err := group.Wait(); !errors.Is(err, context.Canceled) {
			assert.NoError(t, err)
		}
		assert.NoError(t, srv.Close())
	})
}

// TestRun runs the program as a user would, and opens its page.
func TestRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reader, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, "localhost:0", out) }()
	line, err := bufio.NewReader(reader).ReadString('\n')
	require.NoError(t, err)
	_, url, found := strings.Cut(strings.TrimSpace(line), "? ")
	require.True(t, found, line)

	client := &http.Client{}
	response, err := client.Get(url)
	require.NoError(t, err)
	page, err := io.ReadAll(response.Body)
	assert.NoError(t, err)
	assert.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Contains(t, string(page), "operate</title>")

	client.CloseIdleConnections()
	stop()
	assert.NoError(t, <-ended)
}

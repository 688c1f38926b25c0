package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTheTroublesAreOnThePage runs the program as a user would, and looks for each of its
// troubles among what the page says is wrong.
func TestTheTroublesAreOnThePage(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	reader, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, "localhost:0", out) }()
	line, err := bufio.NewReader(reader).ReadString('\n')
	require.NoError(t, err)
	_, url, found := strings.Cut(strings.TrimSpace(line), "? ")
	require.True(t, found, line)

	client := &http.Client{}
	get := func(url string) (text string) {
		response, err := client.Get(url)
		require.NoError(t, err)
		defer response.Body.Close() //nolint:errcheck // it has been read
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, response.StatusCode)
		return string(body)
	}
	report := func() (r snapshot.Report) {
		require.NoError(t, json.Unmarshal([]byte(get(url+"?format=json")), &r))
		return r
	}
	troubles := map[string]string{ // the reasons of problems, and what they have to name
		"Forbidden":  "*v1.Secret",
		"HeapLarge":  "*v1.ConfigMap",
		"Handler":    "billing", // slow, and behind
		"KeyFailing": "shop/checkout",
	}
	missing := func(r snapshot.Report) (missing []string) {
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
	var last snapshot.Report
	require.Eventually(t, func() bool { last = report(); return len(missing(last)) == 0 }, time.Minute, 100*time.Millisecond,
		"not on the page: %v, but %v", missing(last), last.Problems)
	assert.LessOrEqual(t, len(last.Problems), 8, "nobody reads more")
	page := get(url)
	for _, names := range troubles {
		assert.Contains(t, page, strings.TrimPrefix(names, "*v1."))
	}
	assert.Contains(t, get(url+"?key=shop/checkout"), "the quota of 50 is used up")

	client.CloseIdleConnections()
	stop()
	assert.NoError(t, <-ended)
}

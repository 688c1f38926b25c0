package faults

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/e2e/proxy"
)

// TestClock makes the server's answers come from another time, each from another
// one, up to twenty years away. The clock of the machine cannot be turned: that
// timestamps in objects mean nothing to an informer is not what this shows.
func TestClock(t *testing.T) {
	t.Parallel()
	p, err := proxy.Start(server.Config())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.Close()) })
	config := p.Config()
	var answers atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err == nil {
				years := int(answers.Add(1)) * 7 % 41
				response.Header.Set("Date", time.Now().AddDate(years-20, 0, 0).UTC().Format(http.TimeFormat))
			}
			return response, err
		})
	})
	s := newScene[*corev1.ConfigMap](t, newConfigMaps(server.Namespace(t)))
	s.watch(config)
	for p.Cuts("configmaps") < 20 {
		s.until("both watch", func() bool { return p.Watches("configmaps") == 2 })
		s.writes(20)
		p.CutWatches("configmaps", proxy.Clean)
	}
	s.finish("answers dated up to 20 years off", int(answers.Load()))
}

package kube_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// endingWatches is a transport to a server that ends each watch after a line of its list with some text
// in it, or at once.
type endingWatches struct {
	http.RoundTripper
	after string
}

func (e endingWatches) RoundTrip(r *http.Request) (*http.Response, error) {
	if query := r.URL.Query(); query.Has("watch") && !query.Has("sendInitialEvents") {
		return response(http.StatusOK, ""), nil
	}
	answer, err := e.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Query().Has("watch") {
		answer.Body = &shortened{lines: bufio.NewReader(answer.Body), ReadCloser: answer.Body, after: e.after}
	}
	return answer, err
}

// shortened is a body of lines that ends after the first one with some text in it.
type shortened struct {
	io.ReadCloser
	lines *bufio.Reader
	after string
	line  string
	ended bool
}

func (s *shortened) Read(to []byte) (int, error) {
	for s.line == "" {
		if s.ended {
			return 0, io.EOF
		}
		var err error
		if s.line, err = s.lines.ReadString('\n'); err != nil {
			return 0, err
		}
		s.ended = strings.Contains(s.line, s.after)
	}
	n := copy(to, s.line)
	s.line = s.line[n:]
	return n, nil
}

// TestWaitsAreNoSilence: while a source waits after watches that ended at once, a streamed list is not
// asked for yet. So the server is not silent, and has not had the time for the list.
func TestWaitsAreNoSilence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, after string
		opt         kube.SourceOption
		want        string
	}{
		{"silence", "initial-events-end", kube.WithWatchListTimeout(time.Second), ""},
		{"time for the list", "ADDED", kube.WithWatchTimeout(time.Second), "the streamed list ended before it was complete"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rig.InBubble(t, func(t *testing.T) {
				srv := apitest.Start(t)
				require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "")))
				config := srv.Config()
				config.ContentType = runtime.ContentTypeJSON
				config.Wrap(func(base http.RoundTripper) http.RoundTripper { return endingWatches{base, test.after} })
				pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, test.opt))
				ctx := rig.Start(t, pods)
				require.NoError(t, pods.WaitForSync(ctx))
				time.Sleep(10 * time.Minute)
				if err := pods.Status().NotStreamedErr; test.want == "" {
					assert.NoError(t, err)
					assert.Zero(t, srv.Requests("list", "pods"))
				} else {
					assert.ErrorContains(t, err, test.want)
				}
			})
		})
	}
}

package faults

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubetyped/informer/e2e/proxy"
)

// TestRefused answers what informers ask with errors, many times in a row.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
	}{
		{"429 with Retry-After", apierrors.NewTooManyRequests("too many requests, made by a test", 1)},
		{"429 without Retry-After", apierrors.NewTooManyRequests("too many requests, made by a test", 0)},
		{"500", apierrors.NewInternalError(errors.New("made by a test"))},
		{"503", apierrors.NewServiceUnavailable("made by a test")},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, p := broken(t)
			const times = 6 // each waits longer than the one before
			fault := p.Inject(proxy.Fault{Resource: "configmaps", Err: test.err, Times: times})
			p.CutWatches("configmaps", proxy.Abrupt)
			s.until("requests are refused", func() bool { return fault.Count() == times })
			s.finish("requests answered with "+test.name, times)
		})
	}
}

// TestSlow makes every answer late and slow.
func TestSlow(t *testing.T) {
	t.Parallel()
	s, p := broken(t)
	fault := p.Inject(proxy.Fault{Resource: "configmaps", Delay: 300 * time.Millisecond, BytesPerSecond: 200 << 10})
	for range 5 {
		s.until("both watch", func() bool { return p.Watches("configmaps") == 2 })
		s.writes(50)
		p.CutWatches("configmaps", proxy.Clean)
	}
	s.until("both watch", func() bool { return p.Watches("configmaps") == 2 })
	met := fault.Count()
	fault.Remove()
	s.finish("answers 0.3 s late and at 200 KB/s", met)
}

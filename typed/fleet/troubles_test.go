package fleet_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/fleet"
)

// manyClusters returns names in their order.
func manyClusters(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("cluster-%02d", i))
	}
	return names
}

// logged runs a world whose log it returns, as one line for each message about a fleet.
func logged(t *testing.T, names []string, run func(w *world)) (lines []string) {
	rig.InBubble(t, func(t *testing.T) {
		var out bytes.Buffer // the handler has a lock
		w := prepareWorld(t, names)
		begun := time.Now()
		w.logger = logr.FromSlogHandler(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch {
			case a.Key == slog.TimeKey:
				return slog.Duration("at", a.Value.Time().Sub(begun).Round(time.Second))
			case a.Key == "informer", a.Value.Kind() == slog.KindTime:
				return slog.Attr{}
			}
			return a
		}}))
		w.start()
		run(w)
		w.stop()
		synctest.Wait()
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, "of a fleet") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	})
	return lines
}

// TestManyClustersThatFail: each is in the error and in the status, but neither the text of
// the error nor the log grows with their number.
func TestManyClustersThatFail(t *testing.T) {
	names := manyClusters(50)
	lines := logged(t, names, func(w *world) {
		for _, name := range names {
			w.list(name, 1)
		}
		for range 90 {
			for _, name := range names[1:] {
				w.of(name).Report(errDown)
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		err := w.Status().Err
		assert.EqualError(t, err, "49 clusters fail: cluster-01, cluster-02, cluster-03 and 46 others: cluster cluster-01: no route to host")
		var many interface{ Unwrap() []error }
		if assert.ErrorAs(t, err, &many) {
			assert.Len(t, many.Unwrap(), 49)
		}
		var one *fleet.ClusterError
		assert.ErrorAs(t, err, &one)

		for _, name := range names[1:] {
			w.of(name).Report(nil)
		}
		synctest.Wait()
		assert.NoError(t, w.Status().Err)
		time.Sleep(time.Hour)
	})
	assert.Equal(t, []string{
		`at=1s level=INFO msg="Clusters of a fleet fail" failing=49 clusters="cluster-01, cluster-02, cluster-03 and 46 others" err="no route to host" recovered=0`,
		`at=1m1s level=INFO msg="Clusters of a fleet fail" failing=49 clusters="cluster-01, cluster-02, cluster-03 and 46 others" err="no route to host" recovered=0`,
		`at=2m1s level=INFO msg="Clusters of a fleet work again" recovered=49 clusters="cluster-01, cluster-02, cluster-03 and 46 others"`,
	}, lines)
}

// TestClustersThatLeaveFailNoMore: what has left is in no error, whatever else fails.
func TestClustersThatLeaveFailNoMore(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, manyClusters(3))
		for _, name := range manyClusters(3) {
			w.list(name, 1)
		}
		w.of("cluster-00").Report(errors.New("certificate has expired"))
		w.of("cluster-02").Report(errDown)
		synctest.Wait()
		assert.EqualError(t, w.Status().Err, "cluster cluster-00: certificate has expired\ncluster cluster-02: no route to host")
		w.clusters.Remove("cluster-00")
		synctest.Wait()
		assert.EqualError(t, w.Status().Err, "cluster cluster-02: no route to host")
		w.of("cluster-02").Report(nil)
		synctest.Wait()
		assert.NoError(t, w.Status().Err)
	})
}

// TestNextFailureChangesNoEarlierError: an error that Status has returned stays as it was.
func TestNextFailureChangesNoEarlierError(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, manyClusters(3))
		w.list("cluster-01", 1)
		w.of("cluster-00").Report(errDown)
		w.of("cluster-02").Report(errDown)
		synctest.Wait()
		first := w.Status().Err
		w.of("cluster-00").Report(errors.New("certificate has expired"))
		synctest.Wait()
		second := w.Status().Err
		w.of("cluster-02").Report(nil)
		synctest.Wait()
		assert.EqualError(t, first, "cluster cluster-00: no route to host\ncluster cluster-02: no route to host")
		assert.EqualError(t, second, "cluster cluster-00: certificate has expired\ncluster cluster-02: no route to host")
	})
}

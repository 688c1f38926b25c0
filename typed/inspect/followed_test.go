package inspect_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// oneThing is the source of an object that is what its name says.
type oneThing struct{ key index.Key }

func (o oneThing) Run(ctx context.Context, sink source.Sink[*rig.Thing]) error {
	switch o.key.Name {
	case "present":
		sinktest.Replace(sink, "", []*rig.Thing{rig.At("present", 1)}, "1")
	case "absent":
		sinktest.Replace(sink, "", nil, "1")
	case "refused":
		sink.Report(apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "refused", nil))
	}
	<-ctx.Done()
	return nil
}

// TestReportOfNames: the page and the JSON say of an informer by reference what is pending,
// present, absent, refused and beyond the limit, and how often was asked without it.
func TestReportOfNames(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		things := reference.NewSource[index.Key](func(k index.Key) source.Source[*rig.Thing] { return oneThing{k} }, reference.WithLimit(4))
		parents := rig.New(t, typed.WithName("parents"))
		require.NoError(t, reference.From(things, parents.Informer, func(*rig.Thing) []index.Key { return []index.Key{rig.Key("one too many")} }))
		require.NoError(t, things.Hold(index.Key{}, rig.Key("present"), rig.Key("absent"), rig.Key("refused")))
		informer := typed.NewInformer(things, typed.WithName("by name"))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
		synctest.Wait()
		require.NoError(t, things.Hold(index.Key{Name: "other"}, rig.Key("pending")))
		parents.Start()
		sinktest.Replace(parents.Sink, "", []*rig.Thing{rig.At("parent", 1)}, "1")
		things.CountLiveRead()
		time.Sleep(time.Minute)
		synctest.Wait()

		inspector := newInspector(t, inspect.WithInformers(informer, parents.Informer))
		report := reportOf(t, inspector)
		var found int
		for _, of := range report.Informers {
			if of.Name == "parents" {
				assert.Nil(t, of.Followed)
				continue
			}
			found++
			f := of.Followed
			require.NotNil(t, f)
			require.Len(t, f.Unfollowed, 2)
			assert.Equal(t, "ns/refused", f.Unfollowed[0].Key)
			assert.Contains(t, f.Unfollowed[0].Error, "forbidden")
			assert.Equal(t, "ns/one too many", f.Unfollowed[1].Key)
			f.Unfollowed = nil
			assert.Equal(t, snapshot.Followed{Held: 4, Limit: 4, Pending: 1, Present: 1, Absent: 1, Refused: 1, Unheld: 1, LiveReads: 1}, *f)
		}
		assert.Equal(t, 1, found)
		p := problem(t, &report, "NamesNotFollowed")
		assert.Equal(t, "ns/refused", p.Key)
		assert.Equal(t, "some names are not followed: 1 refused by the API server, 1 not held; there are 5 names in all", p.Text)
		for _, other := range report.Problems {
			assert.NotEqual(t, "Forbidden", other.Reason, "that is one problem")
		}
		text := page(t, inspector, "/")
		assert.Contains(t, text, "1 absent, 1 pending, 1 refused, 1 not held")
		assert.Contains(t, text, "Names that are not followed")
		cancel()
		running.Wait()
	})
}

// fixedInformer is an informer with the status that a test sets.
type fixedInformer struct {
	typed.AnyInformer
	status report.Status
}

func (i *fixedInformer) Status() report.Status { return i.status }

// TestNamesGetOlder: an open page says for how long a name is not followed, although nothing
// else changes.
func TestNamesGetOlder(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		informer := &fixedInformer{AnyInformer: typed.NewInformer(rig.NewScript())}
		informer.status = report.Status{Name: "by name", Phase: report.PhaseSynced, Followed: source.Followed{
			Held: 1, Limit: 4, Refused: 1, Unfollowed: []source.Unfollowed{{Key: rig.Key("refused"), Err: errors.New("no right"), Since: time.Now()}},
		}}
		next := inspect.Updates(newInspector(t, inspect.WithInformers(informer)))
		assert.Contains(t, string(next()), "for 0 s")
		time.Sleep(3 * time.Minute)
		assert.Contains(t, string(next()), "<small>for 3 min</small> no right")
	})
}

package source_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/source"
)

// located is a script that knows where it is from.
type located struct {
	*rig.Script
	from source.Origin
}

func (s located) Origin() source.Origin { return s.from }

var thingKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

// TestOrigin is the same behind FilterMap, and in Status, names, metrics and listers.
func TestOrigin(t *testing.T) {
	from := source.Origin{Host: "h:1", Namespace: "ns", Kind: thingKind, Selection: "labels a=b"}
	src := located{rig.NewScript(), from}
	onX := source.FilterMap(src, func(o *rig.Thing) (*rig.Thing, bool) { return o, rig.OnX(o) })
	assert.Equal(t, from, source.OriginOf(onX))

	var measured []any
	things := typed.NewInformer(onX, observe.WithMetricsFor(func(name string, from source.Origin) observe.Metrics {
		measured = append(measured, name, from)
		return nil
	}))
	assert.Equal(t, "*rig.Thing in ns labels a=b at h:1", things.Name())
	assert.Equal(t, from, things.Status().Origin)
	assert.Equal(t, []any{things.Name(), from}, measured)
	_, err := lister.New(things).Namespace("ns").Get("x")
	assert.EqualError(t, err, `thing.example.com "x" not found`)
	_, err = lister.ForResource(things, schema.GroupResource{Resource: "mine"}).Namespace("ns").Get("x")
	assert.EqualError(t, err, `mine "x" not found`)
	assert.Equal(t, "mine", typed.NewInformer(onX, typed.WithName("mine")).Name())

	assert.Zero(t, source.OriginOf[*rig.Thing](nil))
	assert.Zero(t, source.OriginOf(source.Map(src.Script, func(o *rig.Thing) *rig.Thing { return o })))
	unknown := typed.NewInformer(src.Script)
	assert.Equal(t, "*rig.Thing", unknown.Name())
	_, err = lister.New(unknown).Get("x")
	assert.EqualError(t, err, `thing "x" not found`)
}

// TestOriginOfNamespaces is known when there is a namespace.
func TestOriginOfNamespaces(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := source.NewNamespaces()
		src := source.FromNamespaces(set, func(namespace string) source.Source[*rig.Thing] {
			return located{rig.NewScript(), source.Origin{Host: "h:1", Namespace: namespace, Kind: thingKind}}
		})
		things := typed.NewInformer(src)
		l := lister.New(things)
		_, err := l.Namespace("a").Get("x")
		assert.EqualError(t, err, `thing "x" not found`)

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- things.Run(ctx) }()
		synctest.Wait()
		assert.Zero(t, source.OriginOf(src))
		require.NoError(t, set.Add("a", "b"))
		synctest.Wait()
		assert.Equal(t, source.Origin{Host: "h:1", Kind: thingKind}, source.OriginOf(src))
		_, err = l.Namespace("a").Get("x")
		assert.EqualError(t, err, `thing.example.com "x" not found`)
		assert.Equal(t, "*rig.Thing", things.Name(), "it does not change")
		cancel()
		assert.NoError(t, <-ended)
	})
}

// TestRejectedNamesTheInformer that has left an object out, whatever the source says, and
// leaves the source's error as it was.
func TestRejectedNamesTheInformer(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		for name, opts := range map[string][]typed.Option{
			"*rig.Thing at h:1": nil,
			"mine":              {typed.WithName("mine")},
		} {
			script := rig.NewScript()
			src := source.Map(located{script, source.Origin{Host: "h:1", Kind: thingKind}}, func(*rig.Thing) *rig.Thing { return nil })
			r := rig.Over(t, script, src, opts...)
			r.Start()
			sinktest.Put(r.Sink, rig.At("a", 1), "1")
			assert.ErrorContains(t, r.Rejected(rig.Key("a")), "informer "+name+`: object "ns/a"`)
			theirs := &source.RejectedError{Informer: "theirs", Key: rig.Key("b"), Err: source.ErrNilObject}
			r.Sink.Report(theirs)
			assert.ErrorContains(t, r.Rejected(rig.Key("b")), "informer "+name+`: object "ns/b"`)
			assert.Equal(t, "theirs", theirs.Informer)
			assert.EqualError(t, &source.RejectedError{Key: rig.Key("b"), Err: source.ErrNilObject}, `object "ns/b" at resource version "" was left out: object is nil`)
		}
	})
}

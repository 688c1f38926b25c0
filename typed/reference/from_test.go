package reference_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

func contextWithTimeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

// names returns what a parent names: the Secrets in its node, separated by commas.
func names(o *rig.Thing) (keys []index.Key) {
	for name := range strings.SplitSeq(o.Node, ",") {
		if name != "" {
			keys = append(keys, key(strings.TrimSuffix(name, "!")))
		}
	}
	return keys
}

// keysQueue is a queue that writes down.
type keysQueue struct {
	mu  sync.Mutex
	all map[string]int
}

func (q *keysQueue) AddWithOptions(k index.Key, _ queue.AddOptions) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all == nil {
		q.all = map[string]int{}
	}
	q.all[k.Name]++
}

func (q *keysQueue) next() map[string]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	last := q.all
	q.all = nil
	return last
}

func TestParentsHoldAndAreEnqueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{Server: startServer(t), T: t}
		secrets := reference.NewSource[index.Key](func(k index.Key) source.Source[*corev1.Secret] {
			return kube.FromREST[*corev1.Secret](s.Config(), kube.WithName(k))
		}, reference.WithIdle(0))
		informer := typed.NewInformer(secrets)
		parents := rig.New(t)
		q := &keysQueue{}
		require.NoError(t, reference.From(secrets, parents.Informer, names))
		stop, err := reference.EnqueueReferrers(q, secrets, parents.Informer, names)
		require.NoError(t, err)
		parents.Start()
		done := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- informer.Run(ctx) }()
		sinktest.Replace(parents.Sink, "", []*rig.Thing{rig.On("x,y", rig.At("p1", 1)), rig.On("x", rig.At("p2", 1))}, "1")
		settle()
		assert.Equal(t, map[string]int{"p1": 2, "p2": 1}, q.next(), "both are absent, which is known now")
		assert.Equal(t, 2, secrets.Status().Held)

		require.NoError(t, s.Create(t.Context(), secret("x", "1")))
		settle()
		assert.Equal(t, map[string]int{"p1": 1, "p2": 1}, q.next(), "it appears")
		changed := secret("x", "1")
		changed.Labels = map[string]string{"a": "b"}
		require.NoError(t, s.Update(t.Context(), changed))
		settle()
		assert.Equal(t, map[string]int{"p1": 1, "p2": 1}, q.next(), "it changes")

		sinktest.Put(parents.Sink, rig.On("y", rig.At("p2", 2)), "2")
		settle()
		assert.Empty(t, q.next(), "that the parent changes is for others to say")
		require.NoError(t, s.Delete(t.Context(), secret("x", "1")))
		settle()
		assert.Equal(t, map[string]int{"p1": 1}, q.next(), "it vanishes, and p2 does not name it any more")

		forbidden := s.forbid()
		sinktest.Put(parents.Sink, rig.On("z", rig.At("p3", 3)), "3")
		settle()
		assert.Equal(t, map[string]int{"p3": 1}, q.next(), "it is refused")
		forbidden.Remove()
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, map[string]int{"p3": 1}, q.next(), "it is allowed")

		sinktest.Remove(parents.Sink, rig.Key("p3"), index.Released, "4")
		settle()
		assert.Equal(t, 2, secrets.Status().Held, "who leaves lets go")
		sinktest.Delete(parents.Sink, rig.On("x,y", rig.At("p1", 5)), "5")
		settle()
		assert.Equal(t, 1, secrets.Status().Held)
		stop()
		require.NoError(t, s.Create(t.Context(), secret("y", "1")))
		settle()
		assert.Empty(t, q.next())
		assert.Empty(t, parents.Indexes())
		cancel()
		require.NoError(t, <-done)
	})
}

// TestParentsOfTwoKinds: parents of two informers are two owners, even if their keys are equal.
func TestParentsOfTwoKinds(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s := reference.NewSource[index.Key](func(index.Key) source.Source[*rig.Thing] { return rig.NewScript() })
		one, other := rig.New(t), rig.New(t)
		require.NoError(t, reference.From(s, one.Informer, names))
		require.NoError(t, reference.From(s, other.Informer, names))
		require.NoError(t, s.Hold(rig.Key("p"), key("c")))
		one.Start()
		other.Start()
		sinktest.Replace(one.Sink, "", []*rig.Thing{rig.On("a", rig.At("p", 1))}, "1")
		sinktest.Replace(other.Sink, "", []*rig.Thing{rig.On("b", rig.At("p", 1))}, "1")
		synctest.Wait()
		assert.Equal(t, 3, s.Status().Held)
		sinktest.Delete(one.Sink, rig.At("p", 2), "2")
		synctest.Wait()
		assert.Equal(t, 2, s.Status().Held)
	})
}

// TestParentsWithoutRoom: what From cannot hold is reported, and held when there is room.
func TestParentsWithoutRoom(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s := reference.NewSource[index.Key](func(index.Key) source.Source[*rig.Thing] { return nothing{} }, reference.WithLimit(2), reference.WithIdle(0))
		informer := typed.NewInformer(s)
		parents := rig.New(t)
		require.NoError(t, reference.From(s, parents.Informer, names))
		parents.Start()
		require.NoError(t, s.Hold(rig.Key("own"), key("own")))
		ctx, stop := rig.RunInBackground(informer.Run)
		defer stop()
		sinktest.Replace(parents.Sink, "", []*rig.Thing{rig.On("a,b", rig.At("p", 1))}, "1")
		synctest.Wait()
		status := s.Status()
		assert.Equal(t, 2, status.Held)
		require.Len(t, status.Unheld, 1)
		require.ErrorIs(t, status.Unheld[0].Err, reference.ErrLimit)
		_, _, err := reference.Get(ctx, s, informer, status.Unheld[0].Key)
		require.ErrorIs(t, err, reference.ErrLimit)
		require.NoError(t, s.Hold(rig.Key("own")))
		synctest.Wait()
		assert.Equal(t, reference.Status{Held: 2, Limit: 2, Absent: []index.Key{key("a"), key("b")}}, s.Status())
	})
}

// nothing is a source by which there is no object.
type nothing struct{}

func (nothing) Run(ctx context.Context, sink source.Sink[*rig.Thing]) error {
	sink.Replace(source.List{}, "1")
	<-ctx.Done()
	return nil
}

func TestFromIsGivenNothing(t *testing.T) {
	s := reference.NewSource[index.Key](func(index.Key) source.Source[*rig.Thing] { return rig.NewScript() })
	parents := typed.NewInformer[*rig.Thing](rig.NewScript())
	q := &keysQueue{}
	assert.ErrorContains(t, reference.From[*rig.Thing, *rig.Thing](nil, parents, names), "source is nil")
	assert.ErrorContains(t, reference.From[*rig.Thing](s, nil, names), "informer of parents is nil")
	assert.ErrorContains(t, reference.From(s, parents, nil), "function that names objects is nil")
	_, err := reference.EnqueueReferrers(nil, s, parents, names)
	assert.ErrorContains(t, err, "queue is nil")
	_, err = reference.EnqueueReferrers((*queue.WorkQueue[index.Key])(nil), s, parents, names)
	assert.ErrorContains(t, err, "queue is nil", "that of a NewWorkQueue whose error was ignored")
	_, err = reference.EnqueueReferrers[index.Key, *rig.Thing, *rig.Thing](q, nil, parents, names)
	assert.ErrorContains(t, err, "source is nil")
	_, err = reference.EnqueueReferrers[index.Key, *rig.Thing](q, s, nil, names)
	assert.ErrorContains(t, err, "informer of parents is nil")
	_, err = reference.EnqueueReferrers(q, s, parents, nil)
	assert.ErrorContains(t, err, "function that names objects is nil")
}

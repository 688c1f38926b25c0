package reference_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
)

// states writes down the states of a key, as Watch reports them.
type states struct {
	mu  sync.Mutex
	all []reference.State
}

func watchKey(s *server, name string) *states {
	w := &states{}
	s.Cleanup(s.secrets.Watch(func(k index.Key, state reference.State) {
		if k == key(name) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.all = append(w.all, state)
		}
	}))
	return w
}

func (w *states) next() (phases []reference.Phase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.all {
		phases = append(phases, s.Phase)
	}
	w.all = nil
	return phases
}

// reasons returns a function that returns the deletions and their reasons.
func reasons(t *testing.T, s *server) func() []string {
	var mu sync.Mutex
	var all []string
	_, err := s.informer.Handle(typed.HandlerFuncs[*corev1.Secret]{
		DeleteFunc: func(d typed.Deleted[*corev1.Secret]) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, d.Key.Name+" "+d.Reason.String())
		},
	})
	require.NoError(t, err)
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		last := all
		all = nil
		return last
	}
}

func TestRefusedIsNeverAbsent(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		require.NoError(t, s.Create(t.Context(), secret("a", "1")))
		told := watchKey(s, "a")
		forbidden := s.forbid()
		require.NoError(t, s.secrets.Hold("o", key("a")))
		s.start()
		require.NoError(t, s.informer.WaitForSync(t.Context()), "refused is an answer")
		_, exists, err := s.get("a")
		assert.True(t, apierrors.IsForbidden(err), "%v", err)
		assert.ErrorContains(t, err, "object shop/a: whether the object exists is not known: ")
		assert.ErrorContains(t, err, "watch secrets", "the verb is named")
		assert.False(t, exists)
		settle()
		status := s.secrets.Status()
		require.Len(t, status.Refused, 1)
		assert.Equal(t, key("a"), status.Refused[0].Key)
		assert.Equal(t, []reference.Phase{reference.Refused}, told.next(), "once, however often it is tried")
		assert.ErrorContains(t, s.informer.Status().Err, "object shop/a: ")

		forbidden.Remove()
		time.Sleep(time.Minute)
		synctest.Wait()
		_, exists, err = s.get("a")
		require.NoError(t, err)
		assert.True(t, exists)
		assert.Equal(t, []reference.Phase{reference.Present}, told.next())
		assert.Empty(t, s.secrets.Status().Refused)
		assert.NoError(t, s.informer.Status().Err)
	})
}

func TestLastStateStaysWhenTheWatchIsRefused(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		require.NoError(t, s.Create(t.Context(), secret("a", "1"), secret("b", "1")))
		deleted := reasons(t, s)
		told := watchKey(s, "a")
		require.NoError(t, s.secrets.Hold("o", key("a"), key("b")))
		s.start()
		require.NoError(t, s.informer.WaitForSync(t.Context()))
		settle()
		forbidden := s.forbid()
		began := time.Now()
		s.Inject(apitest.Fault{Verb: "watch", Resource: "secrets", Open: true, End: apitest.Reset})
		settle()
		require.NoError(t, s.Delete(t.Context(), secret("a", "1")))
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		_, exists, err := s.get("a")
		require.NoError(t, err)
		assert.True(t, exists, "the last state stays")
		state := s.secrets.State(key("a"))
		assert.Equal(t, reference.Present, state.Phase)
		assert.True(t, apierrors.IsForbidden(state.Err), "%v", state.Err)
		assert.Less(t, state.Since.Sub(began), time.Minute)
		assert.Len(t, s.secrets.Status().Refused, 2)
		assert.Equal(t, []reference.Phase{reference.Present, reference.Present}, told.next(), "it is known, and refused")

		s.Compact()
		forbidden.Remove()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		_, exists, err = s.get("a")
		require.NoError(t, err)
		assert.False(t, exists)
		assert.Equal(t, []string{"a Relisted"}, deleted())
		phases := told.next()
		require.NotEmpty(t, phases)
		assert.Equal(t, reference.Absent, phases[len(phases)-1], "it is gone")
		assert.Subset(t, []reference.Phase{reference.Present, reference.Absent}, phases, "it is allowed again, which the function may be too slow for")
		assert.Empty(t, s.secrets.Status().Refused)
	})
}

func TestHeldAgainWithinTheIdleTime(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		s.start()
		require.NoError(t, s.secrets.Hold("a", key("k")))
		settle()
		watches := s.Requests("watch", "secrets")
		lists := s.Requests("list", "secrets")
		for range 5 {
			require.NoError(t, s.secrets.Hold("a"))
			time.Sleep(4 * time.Minute)
			require.NoError(t, s.secrets.Hold("b", key("k")))
			require.NoError(t, s.secrets.Hold("b"))
		}
		assert.Equal(t, reference.Status{Idle: 1, Limit: 1000, Absent: []index.Key{key("k")}}, s.secrets.Status())
		assert.LessOrEqual(t, s.Requests("watch", "secrets")-watches, 4, "watches are renewed every 5 to 10 minutes")
		assert.Equal(t, lists, s.Requests("list", "secrets"))
		time.Sleep(5*time.Minute - time.Second)
		assert.Equal(t, 1, s.secrets.Status().Idle)
		time.Sleep(2 * time.Second)
		assert.Zero(t, s.secrets.Status().Idle)
		synctest.Wait()
		assert.Zero(t, s.Watches("secrets"))
	})
}

func TestIdleBeginsAfterTheFirstList(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		slow := s.Inject(apitest.Fault{Resource: "secrets", Freeze: true})
		s.start()
		synctest.Wait()
		require.NoError(t, s.secrets.Hold("a", key("k")))
		require.NoError(t, s.secrets.Hold("a"))
		time.Sleep(20 * time.Second)
		assert.Equal(t, []index.Key{key("k")}, s.secrets.Status().Pending, "the list is not thrown away")
		slow.Remove()
		settle()
		assert.Equal(t, []index.Key{key("k")}, s.secrets.Status().Absent)
		time.Sleep(11 * time.Second)
		assert.Empty(t, s.secrets.Status().Absent)
	}, reference.WithIdle(10*time.Second))
}

func TestGivingUpTakesNothingFromOthers(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		require.NoError(t, s.Create(t.Context(), secret("a", "1")))
		s.Inject(apitest.Fault{Resource: "secrets", Latency: 10 * time.Second})
		s.start()
		short, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var waiting sync.WaitGroup
		waiting.Go(func() {
			_, _, err := reference.Get(short, s.secrets, s.informer, key("a"))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
		waiting.Go(func() {
			_, exists, err := s.get("a")
			assert.NoError(t, err)
			assert.True(t, exists)
		})
		waiting.Wait()
		assert.Equal(t, 1, s.Requests("watch", "secrets"), "one streamed list")
		assert.Zero(t, s.Requests("list", "secrets"))
	})
}

func TestWatchesEndAndVersionsAreGone(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		require.NoError(t, s.Create(t.Context(), secret("a", "1"), secret("b", "1")))
		require.NoError(t, s.secrets.Hold("o", key("a"), key("b"), key("c")))
		s.start()
		require.NoError(t, s.informer.WaitForSync(t.Context()))
		for i := range 5 {
			cut := s.Inject(apitest.Fault{Resource: "secrets", End: apitest.Reset})
			s.Inject(apitest.Fault{Verb: "watch", Resource: "secrets", Open: true, End: apitest.Reset})
			if i%2 == 0 {
				require.NoError(t, s.Delete(t.Context(), secret("a", "1")))
				require.NoError(t, s.Create(t.Context(), secret("c", "1")))
			} else {
				require.NoError(t, s.Create(t.Context(), secret("a", "1")))
				require.NoError(t, s.Delete(t.Context(), secret("c", "1")))
			}
			time.Sleep(10 * time.Second)
			if i > 2 {
				s.Compact()
			}
			cut.Remove()
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			_, a, err := s.get("a")
			require.NoError(t, err)
			_, c, err := s.get("c")
			require.NoError(t, err)
			assert.Equal(t, i%2 == 1, a)
			assert.Equal(t, i%2 == 0, c)
		}
		assert.Equal(t, 3, s.Watches("secrets"))
	})
}

func TestDeletedNamespace(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		require.NoError(t, s.Create(t.Context(), secret("a", "1")))
		deleted := reasons(t, s)
		require.NoError(t, s.secrets.Hold("o", key("a")))
		s.start()
		require.NoError(t, s.informer.WaitForSync(t.Context()))
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
		require.NoError(t, s.Delete(t.Context(), ns))
		settle()
		_, exists, err := s.get("a")
		require.NoError(t, err)
		assert.False(t, exists)
		assert.Equal(t, []string{"a Watched"}, deleted())
		require.NoError(t, s.Create(t.Context(), ns, secret("a", "2")))
		settle()
		_, exists, err = s.get("a")
		require.NoError(t, err)
		assert.True(t, exists)
	})
}

// TestServerLags releases a key, and holds it again at a server that is behind: its old
// state does not come back.
func TestServerLags(t *testing.T) {
	for name, streamed := range map[string]bool{"streamed": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			serve(t, func(t *testing.T, s *server) {
				if !streamed {
					s.opts = append(s.opts, kube.WithoutWatchList())
				}
				behind, err := s.Replica()
				require.NoError(t, err)
				var to atomic.Pointer[apitest.Server]
				to.Store(s.Server)
				s.ask = apitest.Balance(func(*http.Request) *apitest.Server { return to.Load() })
				require.NoError(t, s.Create(t.Context(), secret("a", "1")))
				require.NoError(t, s.secrets.Hold("o", key("b")))
				lag := behind.Inject(apitest.Fault{Resource: "secrets", Lag: true})
				s.start()
				require.NoError(t, s.informer.WaitForSync(t.Context()))
				_, exists, err := s.get("a")
				require.NoError(t, err)
				assert.True(t, exists)
				require.NoError(t, s.Delete(t.Context(), secret("a", "1")))
				require.NoError(t, s.Create(t.Context(), secret("b", "1")))
				settle()
				assert.Nil(t, s.secrets.Status().Pending)

				to.Store(behind)
				_, exists, err = s.get("a")
				if streamed { // a consistent one waits for the server's cache
					require.ErrorIs(t, err, context.DeadlineExceeded)
					assert.ErrorContains(t, err, "Too large resource version")
					lag.Remove()
					_, exists, err = s.get("a")
				}
				require.NoError(t, err)
				assert.False(t, exists, "the server still has it in its cache")
				lag.Remove()
			}, reference.WithIdle(0))
		})
	}
}

func TestLetGoOfAndHeldAgain(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		require.NoError(t, s.Create(t.Context(), secret("a", "1")))
		deleted := reasons(t, s)
		s.start()
		var initial atomic.Int32
		_, err := s.informer.Handle(typed.HandlerFuncs[*corev1.Secret]{AddFunc: func(_ *corev1.Secret, first bool) {
			if first {
				initial.Add(1)
			}
		}})
		require.NoError(t, err)
		require.NoError(t, s.informer.WaitForSync(t.Context()))
		require.NoError(t, s.secrets.Hold("o", key("a")))
		settle()
		assert.Equal(t, 1, s.informer.Len())
		require.NoError(t, s.secrets.Hold("o"))
		settle()
		assert.Zero(t, s.informer.Len())
		assert.Equal(t, []string{"a OutOfScope"}, deleted())
		require.NoError(t, s.secrets.Hold("o", key("a")))
		settle()
		assert.Equal(t, 1, s.informer.Len())
		assert.Zero(t, initial.Load())
	}, reference.WithIdle(0))
}

func TestStops(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		s.Inject(apitest.Fault{Resource: "secrets", Freeze: true})
		s.start()
		synctest.Wait()
		go func() {
			time.Sleep(time.Second)
			s.stop()
		}()
		_, _, err := s.get("a")
		require.ErrorIs(t, err, typed.ErrStopped)
		_, _, err = s.get("a")
		require.ErrorIs(t, err, typed.ErrStopped, "it never says not found")
		require.ErrorIs(t, s.secrets.Hold("o", key("b")), typed.ErrStopped)
		assert.NoError(t, s.secrets.Hold("o"))
	})
}

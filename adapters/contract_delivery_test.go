package adapters_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestContractBlockedHandlerDelaysNoOther(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		blocked, other := r.handle(), r.handle()
		hold := make(chan struct{})
		blocked.before = func(string) { <-hold }
		r.run()
		const events = 5000 // more than any buffer
		for i := range events {
			r.script.send(t, modified(pod("a", strconv.Itoa(100+i))))
		}
		assert.Len(t, other.next(), events)
		assert.Equal(t, strconv.Itoa(100+events-1), r.LastSyncResourceVersion())
		late := r.handle()
		assert.Equal(t, []string{fmt.Sprintf("initial ns/a@%d", 100+events-1)}, late.next())
		close(hold)
		assert.Len(t, blocked.next(), events, "nothing is lost or merged")
	})
}

// Every event of a burst arrives, in the order of the watch, whatever its key.
func TestContractOrder(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		rec := r.handle()
		r.run()
		var want []string
		state := map[string]int{}
		for v := 11; v < 3000; v++ {
			name := fmt.Sprint("pod-", v%7)
			p := pod(name, strconv.Itoa(v))
			switch last, known := state[name]; {
			case !known:
				r.script.send(t, added(p))
				want, state[name] = append(want, "add "+describe(p)), v
			case v%5 == 0:
				r.script.send(t, deleted(p))
				want = append(want, "delete "+describe(p))
				delete(state, name)
			default:
				r.script.send(t, modified(p))
				want, state[name] = append(want, fmt.Sprintf("update ns/%s@%d %s", name, last, describe(p))), v
			}
		}
		assert.Equal(t, want, rec.next())
	})
}

// Neither lists nor bursts are too long.
func TestContractManyObjects(t *testing.T) {
	const many = 2500
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		var list []*corev1.Pod
		var listed, events []string
		for i := range many {
			p := pod(fmt.Sprint("listed-", i), strconv.Itoa(i))
			list, listed = append(list, p), append(listed, "initial "+describe(p))
		}
		r.script.lists("10", list...)
		rec := r.handle()
		r.run()
		assert.True(t, rec.handle.HasSynced())
		assert.Equal(t, listed, rec.next())
		for i := range many {
			p := pod(fmt.Sprint("watched-", i), strconv.Itoa(many+i))
			r.script.send(t, added(p))
			events = append(events, "add "+describe(p))
		}
		for _, p := range list {
			r.script.send(t, deleted(p))
			events = append(events, "delete "+describe(p))
		}
		assert.Equal(t, events, rec.next())
		assert.Len(t, r.GetStore().List(), many)
		assert.Len(t, r.handle().next(), many)
	})
}

// When a handler is called, the store and its indexes hold the event's object
// or a newer one.
func TestContractStoreFirst(t *testing.T) {
	byNode := cache.Indexers{"node": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }}
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Indexers: byNode})
		version := func(obj any) int {
			v, err := strconv.Atoi(obj.(*corev1.Pod).ResourceVersion)
			assert.NoError(t, err)
			return v
		}
		calls := 0
		check := func(obj any) {
			calls++
			stored, exists, err := r.GetStore().Get(obj)
			assert.NoError(t, err)
			if !assert.True(t, exists) || !assert.GreaterOrEqual(t, version(stored), version(obj)) {
				return
			}
			found, err := r.GetIndexer().ByIndex("node", stored.(*corev1.Pod).Spec.NodeName)
			assert.NoError(t, err)
			assert.NotNil(t, found)
		}
		_, err := r.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: check, UpdateFunc: func(_, obj any) { check(obj) }})
		require.NoError(t, err)
		r.script.lists("10", pod("a", "1"), pod("b", "2"))
		r.run()
		for v := 11; v < 500; v++ {
			p := pod(string(rune('a'+v%2)), strconv.Itoa(v))
			p.Spec.NodeName = fmt.Sprint("node-", v%3)
			r.script.send(t, modified(p))
		}
		synctest.Wait()
		assert.Equal(t, 2+489, calls)
	})
}

func TestContractStoreFirstOnDelete(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"), pod("b", "2"))
		gone := 0
		_, err := r.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
			gone++
			_, exists, err := r.GetStore().Get(obj)
			assert.NoError(t, err)
			assert.False(t, exists)
		}})
		require.NoError(t, err)
		r.run()
		r.send(deleted(pod("a", "11")))
		r.relist("20")
		assert.Equal(t, 2, gone)
	})
}

// sequence checks that a handler sees each Pod's versions one by one.
type sequence struct {
	t      *testing.T
	mu     sync.Mutex
	last   map[string]int
	events int
}

func (s *sequence) see(old, new any) {
	p := new.(*corev1.Pod)
	version, _ := strconv.Atoi(p.ResourceVersion)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events++
	last, known := s.last[p.Name]
	if old == nil {
		assert.False(s.t, known, "%s was added twice", p.Name)
	} else {
		assert.Equal(s.t, strconv.Itoa(last), old.(*corev1.Pod).ResourceVersion)
		assert.Equal(s.t, last+1, version, "a gap before %s", describe(p))
	}
	s.last[p.Name] = version
}

func (s *sequence) OnAdd(obj any, _ bool) { s.see(nil, obj) }
func (s *sequence) OnUpdate(old, new any) { s.see(old, new) }
func (s *sequence) OnDelete(obj any)      { assert.Fail(s.t, "nothing was deleted") }

// Handlers come and go while events flow: each sees, from its adds on, all
// events and nothing twice.
func TestContractHandlersComeAndGo(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		const names, versions = 5, 300
		r := newRig(t, pods)
		r.run()
		var writers, users sync.WaitGroup
		writers.Go(func() {
			for v := 1; v <= versions; v++ {
				for n := range names {
					r.script.send(t, modified(pod(fmt.Sprint("pod-", n), strconv.Itoa(v))))
				}
			}
		})
		var mu sync.Mutex
		var kept []*sequence
		for range 4 {
			users.Go(func() {
				for i := range 30 {
					s := &sequence{t: t, last: map[string]int{}}
					handle, err := r.AddEventHandler(s)
					if !assert.NoError(t, err) {
						return
					}
					switch i % 3 {
					case 0:
						assert.NoError(t, r.RemoveEventHandler(handle))
					case 1:
						assert.NoError(t, cache.ShutDownEventHandler(r, handle))
					default:
						mu.Lock()
						kept = append(kept, s)
						mu.Unlock()
					}
				}
			})
		}
		writers.Wait()
		users.Wait()
		synctest.Wait()
		require.Len(t, kept, 4*10)
		for _, s := range kept {
			assert.Len(t, s.last, names)
			for name, last := range s.last {
				assert.Equal(t, versions, last, "the last of %s", name)
			}
		}
	})
}

package inspect

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// keyStates asks a queue for the state of a key, of which text is how it was written. It
// returns false if the queue's keys cannot be made of that.
type keyStates func(key index.Key, text string) (queue.KeyState, bool)

// keyStatesOf returns how a queue is asked for the state of a key: directly if its keys are
// strings, or structs of a namespace and a name, or structs that hold such a struct alone, as
// the requests of controller-runtime do.
func keyStatesOf[K comparable](q KeyedQueue[K]) keyStates {
	of, pair := reflect.TypeFor[K](), reflect.TypeFor[index.Key]()
	var fill func(to reflect.Value, key index.Key, text string)
	switch {
	case of.Kind() == reflect.String:
		fill = func(to reflect.Value, _ index.Key, text string) { to.SetString(text) }
	case of.Kind() != reflect.Struct:
	case pair.ConvertibleTo(of):
		fill = func(to reflect.Value, key index.Key, _ string) { to.Set(reflect.ValueOf(key).Convert(of)) }
	case of.NumField() == 1 && of.Field(0).IsExported() && of.Field(0).Type.Kind() == reflect.Struct && pair.ConvertibleTo(of.Field(0).Type):
		fill = func(to reflect.Value, key index.Key, _ string) {
			to.Field(0).Set(reflect.ValueOf(key).Convert(of.Field(0).Type))
		}
	}
	if fill == nil {
		return func(index.Key, string) (queue.KeyState, bool) { return queue.KeyState{}, false }
	}
	return func(key index.Key, text string) (queue.KeyState, bool) {
		var k K
		fill(reflect.ValueOf(&k).Elem(), key, text)
		return q.KeyState(k), true
	}
}

// queueOf returns the state of a queue, the n-th.
func queueOf(q Queue, n int, ids identities, now time.Time) snapshot.Queue {
	r := q.Report(listed)
	name := cmp.Or(r.Name, "queue "+strconv.Itoa(n+1))
	of := snapshot.Queue{
		ID: ids.of("queue", name), Name: name,
		Waiting: r.Waiting, InWork: r.InFlight, Again: r.Dirty, Delayed: r.Delayed, Retries: r.Retries,
		OldestSeconds: seconds(r.OldestAge), Oldest: r.Oldest,
		Priorities: []snapshot.Priority{}, Work: []snapshot.Work{}, Failing: []snapshot.Failing{},
		FailingKeys: r.FailingKeys, MissedFailures: r.MissedFailures, Stuck: r.Stuck, ShutDown: r.ShutDown,
	}
	for _, depth := range r.Depths {
		of.Priorities = append(of.Priorities, snapshot.Priority{Priority: depth.Priority, Waiting: depth.Waiting})
	}
	for _, work := range r.InWork {
		of.Work = append(of.Work, snapshot.Work{Key: work.Key, Began: work.Began, Seconds: seconds(now.Sub(work.Began)), Stuck: work.Stuck})
	}
	for n := range r.Failing {
		of.Failing = append(of.Failing, failingOf(&r.Failing[n]))
	}
	return of
}

// failingOf returns how a key fails.
func failingOf(f *queue.Failing) snapshot.Failing {
	return snapshot.Failing{Key: f.Key, Failures: f.Failures, Since: f.Since, Last: f.Last, Error: textOf(f.Err), Terminal: f.Terminal}
}

// expectationsOf returns what a controller expects.
func expectationsOf(part expectingPart, ids identities) snapshot.Expectations {
	stats := part.expectations.Stats()
	e := snapshot.Expectations{
		ID: ids.of("expectations", part.name), Name: part.name,
		Keys: stats.Keys, Waiting: stats.Waiting, PutOff: stats.PutOff, Expired: stats.Expired,
		Pending: []snapshot.Expectation{},
	}
	for _, pending := range part.expectations.Report(listed) {
		e.Pending = append(e.Pending, snapshot.Expectation{
			Key: pending.Key, Waiting: pending.Waiting, For: append([]string{}, pending.For...),
			Since: pending.Since, Deadline: pending.Deadline,
		})
	}
	return e
}

// parseKey returns the key that was written as namespace/name, or as name alone. A namespace
// may have slashes, as those of fleets do.
func parseKey(text string) (index.Key, error) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "/")
	key := index.Key{Name: text}
	if slash := strings.LastIndexByte(text, '/'); slash >= 0 {
		key = index.Key{Namespace: text[:slash], Name: text[slash+1:]}
	}
	if key.Name == "" {
		return index.Key{}, fmt.Errorf("%q is no key: write namespace/name, or name for cluster-scoped objects", text)
	}
	return key, nil
}

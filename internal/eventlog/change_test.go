package eventlog

import (
	"fmt"
	"strconv"

	"github.com/kubetyped/informer/index"
)

// object is one version of a key.
type object struct{ key, version int }

func (o object) GetName() string { return strconv.Itoa(o.key) }

func (o object) GetNamespace() string { return "" }

// event is an event of the log.
type event = index.Event[object]

// change is an event as a store has them: the version of one key before and
// after, 0 where there is none.
type change struct {
	key, old, new int
}

func (c change) event() event {
	return event{Old: object{c.key, c.old}, New: object{c.key, c.new}}
}

func changeOf(e event) change { return change{e.New.key, e.Old.version, e.New.version} }

// events returns the events of changes.
func events(changes ...change) []event {
	var list []event
	for _, c := range changes {
		list = append(list, c.event())
	}
	return list
}

// changes returns the changes of events.
func changes(events []event) []change {
	var list []change
	for _, e := range events {
		list = append(list, changeOf(e))
	}
	return list
}

// mergeChanges keeps the first old and the last new version, and nothing if
// the key came and went.
func mergeChanges(pending, next change) (change, bool) {
	merged := change{pending.key, pending.old, next.new}
	return merged, merged.old != 0 || merged.new != 0
}

// mergeEvents does so with events.
func mergeEvents(pending, next event) (event, bool) {
	merged, left := mergeChanges(changeOf(pending), changeOf(next))
	return merged.event(), left
}

// state is what a reader knows after some changes, the version of each key.
type state map[int]int

// apply follows c, and fails if c does not begin where the state is.
func (s state) apply(c change) error {
	if s[c.key] != c.old {
		return fmt.Errorf("%+v does not follow version %d", c, s[c.key])
	}
	if c.new == 0 {
		delete(s, c.key)
	} else {
		s[c.key] = c.new
	}
	return nil
}

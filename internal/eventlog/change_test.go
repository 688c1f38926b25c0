package eventlog

import "fmt"

// change is an event as a store has them: the version of one key before and
// after, 0 where there is none.
type change struct {
	key, old, new int
}

func keyOf(c change) int { return c.key }

// mergeChanges keeps the first old and the last new version, and nothing if
// the key came and went.
func mergeChanges(pending, next change) (change, bool) {
	merged := change{pending.key, pending.old, next.new}
	return merged, merged.old != 0 || merged.new != 0
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

package eventlog_test

import (
	"testing"

	"github.com/kubetyped/informer/internal/eventlog"
	"github.com/kubetyped/informer/internal/test/waves"
)

// only returns one event, of a key.
func only(key int) []event { return []event{told{key: key}.event()} }

// cancelOut leaves nothing of two events of a key.
func cancelOut(pending, _ event) (event, bool) { return pending, false }

// TestLogGivesBack: the events that all readers have read are let go of, and all but a few
// of the pages that they were in.
func TestLogGivesBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		log := eventlog.New[object]()
		reader := log.NewCursor(0)
		gone := 0
		return waves.Structure{
			Come: func(key int) { log.Append(only(key)) },
			Go:   func(int) { gone++ },
			Rest: func() {
				for gone > 0 {
					gone -= len(reader.Next())
				}
			},
		}
	})
}

// TestCoalescerGivesBack: whether the reader gets what has waited, or nothing is left to
// tell of it.
func TestCoalescerGivesBack(t *testing.T) {
	for name, isRead := range map[string]bool{"read": true, "joined to nothing": false} {
		t.Run(name, func(t *testing.T) {
			waves.GivesBack(t, func() waves.Structure {
				log := eventlog.New[object]()
				reader := eventlog.NewCoalescer(log, cancelOut)
				return waves.Structure{
					Come: func(key int) { log.Append(only(key)) },
					Go: func(key int) {
						if isRead {
							reader.Next()
						} else {
							log.Append(only(key))
						}
					},
				}
			})
		})
	}
}

// TestFillGivesBack: what has changed since a Fill was begun is let go of when it ends.
func TestFillGivesBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		log := eventlog.New[object]()
		reader := eventlog.NewCoalescer(log, cancelOut)
		fill := reader.Fill()
		return waves.Structure{
			Come: func(key int) { fill.Offer(told{key: key}.event()) },
			Go:   func(key int) { log.Append(only(key)) },
			Rest: func() {
				fill.End()
				fill = reader.Fill()
			},
		}
	})
}

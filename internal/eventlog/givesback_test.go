package eventlog_test

import (
	"testing"

	"github.com/kubetyped/informer/internal/eventlog"
	"github.com/kubetyped/informer/internal/test/waves"
)

// only returns one event, of a key.
func only(key int) []event { return []event{part{key: key}.event()} }

// cancelOut leaves nothing of two events of a key.
func cancelOut(pending, _ event) (event, bool) { return pending, false }

// TestLogGivesBack: the log frees the events that all readers have read, and all except a few of
// their pages.
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

// TestCoalescerGivesBack: a coalescer frees the events that its reader takes, and those that cancel
// out.
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

// TestFillGivesBack: the end of a Fill frees the changes since its beginning.
func TestFillGivesBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		log := eventlog.New[object]()
		reader := eventlog.NewCoalescer(log, cancelOut)
		fill := reader.Fill()
		return waves.Structure{
			Come: func(key int) { fill.Offer(part{key: key}.event()) },
			Go:   func(key int) { log.Append(only(key)) },
			Rest: func() {
				fill.End()
				fill = reader.Fill()
			},
		}
	})
}

package eventlog_test

import (
	"testing"

	"github.com/kubetyped/informer/internal/eventlog"
	"github.com/kubetyped/informer/internal/test/waves"
)

// TestLogGivesBack: the events that all readers have read are let go of, and all but a few
// of the pages that they were in.
func TestLogGivesBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		log := eventlog.New[[4]int]()
		reader := log.NewCursor(0)
		gone := 0
		return waves.Structure{
			Come: func(key int) { log.Append([][4]int{{key}}) },
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
				log := eventlog.New[[4]int]()
				reader := eventlog.NewCoalescer(log, func(e [4]int) int { return e[0] }, func(e, _ [4]int) ([4]int, bool) { return e, false })
				return waves.Structure{
					Come: func(key int) { log.Append([][4]int{{key}}) },
					Go: func(key int) {
						if isRead {
							reader.Next()
						} else {
							log.Append([][4]int{{key}})
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
		log := eventlog.New[[4]int]()
		reader := eventlog.NewCoalescer(log, func(e [4]int) int { return e[0] }, func(e, _ [4]int) ([4]int, bool) { return e, false })
		fill := reader.Fill()
		return waves.Structure{
			Come: func(key int) { fill.Offer([4]int{key}) },
			Go:   func(key int) { log.Append([][4]int{{key}}) },
			Rest: func() {
				fill.End()
				fill = reader.Fill()
			},
		}
	})
}

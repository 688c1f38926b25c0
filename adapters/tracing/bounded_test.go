package tracing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// TestBounded compares with a slice that is searched: what is there is what was noted
// last, not too many and not too old.
func TestBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most, age = 4, 10 * time.Second
		type noted struct {
			key, value int
			since      time.Time
		}
		b := newBounded[int, int](&Tracer{config: config{events: most, age: age}})
		var model []noted
		now := time.Unix(0, 0)
		find := func(key int) int {
			for i := range model {
				if model[i].key == key {
					return i
				}
			}
			return -1
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "seconds")) * time.Second)
			key, keep := rapid.IntRange(0, 7).Draw(t, "key"), rapid.IntRange(0, 3).Draw(t, "keep") > 0
			isTaken := rapid.Bool().Draw(t, "take")
			if b.isEmpty() && isTaken {
				_, ok := b.take(key, now)
				assert.False(t, ok)
				continue
			}
			for len(model) > 0 && now.Sub(model[0].since) > age {
				model = model[1:]
			}
			at := find(key)
			if isTaken {
				value, ok := b.take(key, now)
				assert.Equal(t, at >= 0, ok)
				if at >= 0 {
					assert.Equal(t, model[at].value, value)
					model = append(model[:at:at], model[at+1:]...)
				}
			} else {
				b.change(key, now, func(value int) (int, bool) {
					if at >= 0 {
						assert.Equal(t, model[at].value, value)
					} else {
						assert.Zero(t, value)
					}
					return value + 1, keep
				})
				switch {
				case at >= 0 && keep:
					model[at].value++
				case at >= 0:
					model = append(model[:at:at], model[at+1:]...)
				case keep:
					if len(model) == most {
						model = model[1:]
					}
					model = append(model, noted{key: key, value: 1, since: now})
				}
			}
			assert.EqualValues(t, len(model), b.size.Load())
			assert.Len(t, b.byKey, len(model))
			assert.Equal(t, len(model), b.order.Len())
		}
	})
}

package ownwrites_test

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/ownwrites"
	"github.com/kubetyped/informer/internal/test/waves"
)

// TestFilterGivesBack: the watch reports the deletions of objects with answers, and answered
// deletions pass their time.
func TestFilterGivesBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		const later = 1 << 40
		var f ownwrites.Filter[int]
		f.List(1, true)
		now, answered, watched := time.Now(), uint64(later), uint64(1)
		held := func(key int) (index.Key, types.UID) {
			return index.Key{Namespace: "held", Name: strconv.Itoa(key)}, types.UID(strconv.Itoa(key))
		}
		return waves.Structure{
			Come: func(key int) {
				answered++
				k, uid := held(key)
				f.Answered(ownwrites.State[int]{Key: k, UID: uid, Version: answered, Held: true}, answered, now)
				f.AnsweredDeletion(index.Key{Namespace: "gone", Name: k.Name}, "gone-"+uid, answered, now)
			},
			Go: func(key int) {
				watched++
				k, uid := held(key)
				f.Watched(k, uid, true, watched, now)
			},
			Rest: func() {
				now = now.Add(2 * ownwrites.Patience)
				f.Bookmark(watched, now)
			},
			End: func() { f.Ahead() },
		}
	})
}

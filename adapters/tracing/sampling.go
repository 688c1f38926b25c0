package tracing

import (
	"sync"
	"time"

	"github.com/kubetyped/informer/index"
)

// samples reports whether an event of a key is to be traced.
func (t *Tracer) samples(key index.Key, version string) bool {
	if t.oneIn > 1 && hash(key.Namespace, key.Name, version)%t.oneIn != 0 {
		return false
	}
	return t.rate.take(time.Now())
}

// FNV-1a, see http://www.isthe.com/chongo/tech/comp/fnv/, which is the same in all
// programs.
const (
	offset64 = 14695981039346656037
	prime64  = 1099511628211
)

// hash returns a hash of three strings.
func hash(a, b, c string) uint64 {
	h := add(add(add(offset64, a), b), c)
	h ^= h >> 32 // the lower bits of the last byte's are not mixed well
	h *= prime64
	return h ^ h>>29
}

// add adds a string and its end to a hash.
func add(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime64
	}
	return (h ^ 0xff) * prime64
}

// rate is how many events may be traced.
type rate struct {
	perSecond int // 0: any number

	mu     sync.Mutex
	second time.Time // guarded by mu; when this second began
	taken  int       // guarded by mu; since then
}

// take reports whether one more may be traced now.
func (r *rate) take(now time.Time) bool {
	if r.perSecond == 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.second) >= time.Second {
		r.second, r.taken = now, 0
	}
	if r.taken >= r.perSecond {
		return false
	}
	r.taken++
	return true
}

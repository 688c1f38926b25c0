package apitest

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	utiluuid "k8s.io/apimachinery/pkg/util/uuid"
)

// suffixes are the characters of generated names: apimachinery's, without vowels and
// what looks like them.
const suffixes = "bcdfghjklmnpqrstvwxz2456789"

// randomness makes UIDs and the ends of generated names, by chance or from a seed. A
// nil *randomness makes them by chance.
type randomness struct {
	mu     sync.Mutex
	source *rand.ChaCha8 // guarded by mu
}

// WithSeed makes the UIDs and the generated names of objects follow from a seed and the order
// in which they are created, so that a test is the same each time.
func WithSeed(seed uint64) Option {
	return setting(func(s *settings) {
		var key [32]byte
		binary.LittleEndian.PutUint64(key[:], seed)
		s.random = &randomness{source: rand.NewChaCha8(key)}
	})
}

// uid returns a new UID.
func (r *randomness) uid() types.UID {
	if r == nil {
		return utiluuid.NewUUID()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return types.UID(must(uuid.NewRandomFromReader(r.source)).String()) // a ChaCha8 always has more
}

// suffix returns the end of a generated name.
func (r *randomness) suffix() string {
	if r == nil {
		return utilrand.String(suffixLength)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	made := make([]byte, suffixLength)
	for i := range made {
		made[i] = suffixes[r.source.Uint64()%uint64(len(suffixes))]
	}
	return string(made)
}

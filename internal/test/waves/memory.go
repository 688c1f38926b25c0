package waves

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// Structure is what promises to give back the memory of keys that are gone. A field that
// is nil has nothing to do.
type Structure struct {
	Come func(key int)
	Go   func(key int)
	Rest func() // has happen whatever it takes until memory is given back
	End  func()
}

// GivesBack brings a million keys to a structure and removes them, or 50,000 without the flag
// -waves, and fails if the heap has more afterwards than 1 MB, or three eighths of that, beyond
// what it had before. Then it brings them again and removes all but a hundredth, at random: the
// structure must not be larger than four new ones with these keys. It makes both by calling
// build.
func GivesBack(t *testing.T, build func() Structure) {
	t.Helper()
	keys, slack := 50_000, 384<<10
	if IsLong() {
		keys, slack = 1_000_000, 1<<20
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(keys)
	empty := inUse()
	s := build()
	before := inUse()
	for key := range keys {
		s.Come(key)
	}
	full := inUse() - before
	for _, key := range order {
		s.goes(key)
	}
	s.rest()
	after := inUse() - before
	t.Logf("%d keys: %d KB with all of them, %d KB with none", keys, full>>10, after>>10)
	if after > slack {
		t.Errorf("when %d keys have come and gone, %d KB are left", keys, after>>10)
	}

	for key := range keys {
		s.Come(key)
	}
	left := order[:keys/100]
	for _, key := range order[keys/100:] {
		s.goes(key)
	}
	s.rest()
	with := inUse() - empty
	s.end()
	runtime.KeepAlive(s)
	s = Structure{}

	empty = inUse()
	fresh := build()
	for _, key := range left {
		fresh.Come(key)
	}
	fresh.rest()
	anew := inUse() - empty
	fresh.end()
	runtime.KeepAlive(fresh)
	t.Logf("with %d keys left: %d KB, a new one %d KB", len(left), with>>10, anew>>10)
	most := 4 * anew
	if !IsLong() { // what is the same for few as for many counts for more
		most += 1 << 20
	}
	if with > most {
		t.Errorf("with %d of %d keys left, it takes %d KB, a new one %d KB", len(left), keys, with>>10, anew>>10)
	}
	runtime.KeepAlive(order)
}

func (s Structure) goes(key int) {
	if s.Go != nil {
		s.Go(key)
	}
}

func (s Structure) rest() {
	if s.Rest != nil {
		s.Rest()
	}
}

func (s Structure) end() {
	if s.End != nil {
		s.End()
	}
}

// inUse returns how many bytes of the heap are in use.
func inUse() int {
	runtime.GC()
	runtime.GC() // what cleanups and weak pointers have held on to
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

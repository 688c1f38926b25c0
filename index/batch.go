package index

import (
	"slices"
	"strings"
)

// batch is what a writer computes for some objects before it writes them, without the
// readers' lock. Its slices have an element for each of the objects.
type batch[T Object] struct {
	keys    []Key
	located []located
	texts   []string // copies of the keys of those that are new, see put
	latest  []uint32 // hash table: numbers of the latest objects of their keys, plus one
}

// located is where an object is to be written: the hash of its key, and the position of the
// object with that key, if there is one.
type located struct {
	hash, pos uint32
	text      uint32 // place of the copy of its key in batch.texts, plus one; 0: there is none
	found     bool
}

// locate looks a key up. The caller holds writer, so that no lock is needed to
// read.
func (x *Indexer[T]) locate(key Key) located {
	at := located{hash: x.hashOf(key)}
	if e := x.find(at.hash, key); e != nil {
		at.pos, at.found = e.place-1, true
	}
	return at
}

func (x *Indexer[T]) hashOf(key Key) uint32 {
	if x.keyStrings {
		return x.hasher.joined(key)
	}
	return x.hasher.key(key)
}

// find returns the entry of key, nil if there is none.
func (x *Indexer[T]) find(hash uint32, key Key) *entry[T, keyText] {
	if x.keyStrings {
		var buf keyBuffer
		return findString(&x.keys.tables, hash, buf.join(key))
	}
	return findSlot(&x.keys.tables, hash, key)
}

// blockSize is how many objects are looked at together.
const blockSize = 16

// locateKeys appends what locate returns for up to blockSize keys to the batch. It takes
// one step for all of them before the next: almost every access to an object that was just
// decoded waits for memory, and so the processor waits for many of them at once.
func (x *Indexer[T]) locateKeys(keys []Key) {
	b := &x.batch
	from := len(b.located)
	for i := range keys {
		b.located = append(b.located, located{hash: x.hashOf(keys[i])})
	}
	for i := range keys {
		at := &b.located[from+i]
		if e := x.find(at.hash, keys[i]); e != nil {
			at.pos, at.found = e.place-1, true
		}
	}
}

// keysOfNew appends objects that were located to the batch. Only new objects get their keys,
// which the others do not need: asking an object for its key waits for memory.
func (b *batch[T]) keysOfNew(objs []T, at []located) {
	b.located = append(b.located, at...)
	for i, obj := range objs {
		var key Key
		if !at[i].found {
			key = KeyOf(obj)
		}
		b.keys = append(b.keys, key)
	}
}

// copyText makes a copy of the key of a new object.
func (b *batch[T]) copyText(key Key, at *located) {
	b.texts = append(b.texts, textOf(key))
	at.text = uint32(len(b.texts))
}

// copyTexts makes copies of the keys of the new objects of a block of a list. They are one
// piece of memory: the keys of a large store are then not all over the heap, which would cost
// a look-up more than the comparison does, and take less of it. If one object of a block is
// left, its key keeps the memory of the others, a few hundred bytes.
func (b *batch[T]) copyTexts() {
	size := 0
	for i, key := range b.keys {
		if !b.located[i].found {
			size += len(key.Namespace) + 1 + len(key.Name)
		}
	}
	var block strings.Builder
	block.Grow(size)
	for i, key := range b.keys {
		at := &b.located[i]
		if at.found {
			continue
		}
		start := block.Len()
		if key.Namespace != "" {
			block.WriteString(key.Namespace)
			block.WriteByte('/')
		}
		block.WriteString(key.Name)
		b.texts = append(b.texts, block.String()[start:])
		at.text = uint32(len(b.texts))
	}
}

// text returns a copy, as a string, of a key that was located.
func (b *batch[T]) text(at located, key Key) string {
	if at.text != 0 {
		return b.texts[at.text-1]
	}
	return textOf(key)
}

// noteLatest notes that object i of the batch is the latest of its key, and returns
// the number of the one that was until now, -1 if there is none.
func (b *batch[T]) noteLatest(i int) int {
	mask := uint32(len(b.latest) - 1)
	hash := b.located[i].hash
	for at := hash & mask; ; at = (at + 1) & mask {
		before := int(b.latest[at]) - 1
		if before < 0 || b.located[before].hash == hash && b.keys[before] == b.keys[i] {
			b.latest[at] = uint32(i + 1)
			return before
		}
	}
}

// forgetLatest makes room for the latest of n objects, of which none is known.
func (b *batch[T]) forgetLatest(n int) {
	size := 8
	for size < 2*n {
		size *= 2
	}
	b.latest = slices.Grow(b.latest[:0], size)[:size]
	clear(b.latest)
}

func (x *Indexer[T]) stage(obj T) {
	for _, index := range x.indexes {
		index.stage(obj)
	}
}

// unstage forgets what is known of a batch, and keeps memory for keep elements at
// most of each kind.
func (x *Indexer[T]) unstage(keep int) {
	b := &x.batch
	b.keys = reuse(b.keys, keep)
	b.located = reuse(b.located, keep)
	b.texts = reuse(b.texts, keep)
	x.unstageIndexes(keep)
}

func (x *Indexer[T]) unstageIndexes(keep int) {
	for _, index := range x.indexes {
		index.unstage(keep)
	}
}

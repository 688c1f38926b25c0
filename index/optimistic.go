package index

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// optimistic finds objects by the hashes of their keys without a lock, while a writer may be
// writing. It is a sequence lock: a reader uses an entry only if no counted write began or ended
// while it was reading, and takes the lock otherwise; see lock for other writes. Readers write to
// no memory, so none of them slows another down, on any number of processors.
//
// Both sides access atomically what they may access at the same time: the list of tables, its
// elements, and the entries. (Boehm, "Can Seqlocks Get Along With Programming Language Memory
// Models?", 2012, explains why a sequence lock needs that.) The slice of entries and the depth of
// a table never change once readers can find it.
type optimistic[T Object] struct {
	words  int                                // of an object; 0: readers take the lock. Never changed
	writes atomic.Uint64                      // how many counted writes began or ended: odd during one
	list   atomic.Pointer[*table[T, keyText]] // the list of tables; nil: readers take the lock
	shift  atomic.Uint32                      // of the list, see tables
}

// wordsOf returns of how many pointers an object consists, 0 if it may have other parts.
func wordsOf[T Object]() int {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Pointer:
		return 1
	case reflect.Interface:
		return 2
	default:
		return 0
	}
}

// find returns the object and the key of the first entry of a hash, place 0 if there is no
// such entry. It is not sure, and the caller takes the lock, if there was a write at the same
// time, if the store is empty, or if words is 0.
func (o *optimistic[T]) find(hash uint32) (obj T, text keyText, place uint32, sure bool) {
	before := o.writes.Load()
	t := o.table(before, hash)
	if t == nil {
		return obj, text, 0, false
	}
	e := t.search(hash)
	if e == nil {
		return obj, text, 0, false
	}
	return o.read(before, e)
}

// read returns the parts of an entry. It is sure of them if before still is the number of writes.
func (o *optimistic[T]) read(before uint64, e *entry[T, keyText]) (obj T, text keyText, place uint32, sure bool) {
	obj, text, place = loadObject(&e.object), loadText(&e.text), atomic.LoadUint32(&e.place)
	return obj, text, place, o.writes.Load() == before
}

// table returns the table of a hash, nil if there is no list. It also returns nil if before is odd
// or is not the number of writes any more: list and shift may then belong to different lists.
func (o *optimistic[T]) table(before uint64, hash uint32) *table[T, keyText] {
	list, shift := o.list.Load(), o.shift.Load()
	if list == nil || before%2 != 0 || o.writes.Load() != before {
		return nil
	}
	at := uintptr(uint64(hash)>>(shift&63)) * wordSize
	return (*table[T, keyText])(atomic.LoadPointer(word(list, at)))
}

// search returns the first entry of a hash, or the free one that ends the way to it. It
// returns nil if the way has no end, as may be during a write.
func (t *table[T, X]) search(hash uint32) *entry[T, X] {
	i := t.home(hash)
	for range t.entries {
		e := &t.entries[i]
		if atomic.LoadUint32(&e.place) == 0 || atomic.LoadUint32(&e.hash) == hash {
			return e
		}
		i = t.next(i)
	}
	return nil
}

// lock begins a write of keys and objects. A write that changes only one word of an entry need
// not be counted: readers find either the old word or the new one. If it has copied the table
// and the list first, readers that still have the old ones find the old word in them.
func (x *Indexer[T]) lock(counted bool) {
	x.mu.Lock()
	if counted && x.keysEpoch.lockFree {
		x.optimistic.writes.Add(1)
	}
}

// unlock ends a write, and shows its tables to readers.
func (x *Indexer[T]) unlock(counted bool) {
	o := &x.optimistic
	if list := unsafe.SliceData(x.keys.list); o.list.Load() != list && o.words > 0 {
		o.list.Store(list)
		o.shift.Store(uint32(x.keys.shift))
	}
	if counted && x.keysEpoch.lockFree {
		o.writes.Add(1)
	}
	x.mu.Unlock()
}

// store writes entry i.
func (t *table[T, X]) store(e *epoch, i int, by *entry[T, X]) {
	to := &t.entries[i]
	if !e.lockFree {
		*to = *by
		return
	}
	storeObject(&to.object, by.object)
	storeText((*keyText)(unsafe.Pointer(&to.text)), (*keyText)(unsafe.Pointer(&by.text)))
	storeNumber(&to.hash, by.hash)
	atomic.StoreUint32(&to.place, by.place)
}

// clear frees entry i. If writes are atomic, it leaves the numbers: no reader uses those of a free
// entry.
func (t *table[T, X]) clear(e *epoch, i int) {
	to := &t.entries[i]
	if !e.lockFree {
		*to = entry[T, X]{}
		return
	}
	var none T
	atomic.StoreUint32(&to.place, 0)
	storeObject(&to.object, none)
	atomic.StorePointer(&(*keyText)(unsafe.Pointer(&to.text)).data, nil)
}

// storeObject writes an object, each of its words atomically.
func storeObject[T any](to *T, obj T) {
	atomic.StorePointer(word(to, 0), *word(&obj, 0))
	if unsafe.Sizeof(obj) > wordSize {
		atomic.StorePointer(word(to, wordSize), *word(&obj, wordSize))
	}
}

// loadObject reads an object, each of its words atomically.
func loadObject[T any](from *T) (obj T) {
	*word(&obj, 0) = atomic.LoadPointer(word(from, 0))
	if unsafe.Sizeof(obj) > wordSize {
		*word(&obj, wordSize) = atomic.LoadPointer(word(from, wordSize))
	}
	return obj
}

// word returns the word at an offset from what a pointer points to.
func word[T any](obj *T, offset uintptr) *unsafe.Pointer {
	return (*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(obj), offset))
}

func storeText(to, by *keyText) {
	atomic.StorePointer(&to.data, by.data)
	storeNumber(&to.size, by.size)
	storeNumber(&to.prefix, by.prefix)
}

// storeNumber writes a number unless it is there already: comparing takes less time than storing.
func storeNumber(to *uint32, n uint32) {
	if *to != n {
		atomic.StoreUint32(to, n)
	}
}

func loadText(from *keyText) keyText {
	return keyText{atomic.LoadPointer(&from.data), atomic.LoadUint32(&from.size), atomic.LoadUint32(&from.prefix)}
}

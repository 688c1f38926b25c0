package index

import (
	"cmp"

	"k8s.io/apimachinery/pkg/labels"
)

// These are what an Indexer asks of an index, see Definition.

func (x *Ordered[K, T]) attach(to *Indexer[T]) error {
	if x == nil {
		return errNilIndex
	}
	return x.claimFor(to, x.key != nil, "NewOrdered")
}

func (x *Ordered[K, T]) belongsTo(owner *Indexer[T]) bool {
	return x != nil && x.claim.Load() == owner
}

func (x *Ordered[K, T]) detach() {
	x.reset(0)
	x.attachment.detach()
}

func (x *Ordered[K, T]) stage(obj T) {
	e := orderedEntry[K, T]{object: obj}
	if k, ok := x.key(obj); ok {
		e.key, e.name = x.cloner.clone(k), KeyOf(obj)
	} else {
		e.none = true
	}
	x.staged = append(x.staged, e)
}

func (x *Ordered[K, T]) unstage(keep int) { x.staged = reuse(x.staged, keep) }

func (x *Ordered[K, T]) begin() {
	if x.epoch.shared.Load() {
		x.tree = x.tree.Clone() // readers keep the other one
	}
	x.epoch.begin()
}

func (x *Ordered[K, T]) add() { x.entries.push(&x.epoch, nil) }

func (x *Ordered[K, T]) assign(pos uint32, staged int) {
	before, after := x.entries.at(pos), &x.staged[staged]
	if before == nil && after.none {
		return
	}
	if before != nil && (after.none || cmp.Compare(before.key, after.key) != 0) {
		x.tree.Delete(before)
	}
	if after.none {
		x.entries.set(&x.epoch, pos, nil)
		return
	}
	e := new(orderedEntry[K, T])
	*e = *after
	x.tree.ReplaceOrInsert(e)
	x.entries.set(&x.epoch, pos, e)
}

func (x *Ordered[K, T]) remove(pos uint32) {
	if e := x.entries.at(pos); e != nil {
		x.tree.Delete(e)
	}
	if last := x.entries.n - 1; last != pos {
		x.entries.set(&x.epoch, pos, x.entries.at(last))
	}
	x.entries.pop(&x.epoch)
}

func (x *Ordered[K, T]) fork() Definition[T] {
	f := &Ordered[K, T]{attachment: attachment[T]{name: x.name}, key: x.key, cloner: x.cloner}
	f.tree, f.entries = x.tree.Clone(), x.entries
	f.epoch.fork(&x.epoch)
	return f
}

func (x *Ordered[K, T]) adopt(fork Definition[T]) {
	f := fork.(*Ordered[K, T])
	x.tree, x.entries = f.tree, f.entries
	x.epoch.adopt(&f.epoch)
}

// compacted returns nil: the tree and the entries get smaller by themselves.
func (x *Ordered[K, T]) compacted() Definition[T] { return nil }

func (x *Ordered[K, T]) moved() uint64 { return x.epoch.moved }

// frozenOrdered is an ordered index's part of a Snapshot.
type frozenOrdered[K cmp.Ordered, T Object] struct {
	index   *Ordered[K, T]
	tree    *orderedTree[K, T]
	entries pages[*orderedEntry[K, T]] // by position of the object
}

func (x *Ordered[K, T]) freeze() frozenPart {
	x.epoch.share()
	return &frozenOrdered[K, T]{index: x, tree: x.tree, entries: x.entries.pages}
}

func (x *Ordered[K, T]) labelTerm(labels.Requirement) (Term[T], bool) { return nil, false }

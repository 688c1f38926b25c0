package main

// tablesAndIndexes are bugs of the store's parts: tables, vectors, postings, views and
// ordered indexes.
var tablesAndIndexes = []mutation{{
	bug: "a table that is full takes one more entry",
	in:  "index.table.full",
	old: "int(t.used+1)*5 > len(t.entries)*4",
	new: "int(t.used) >= len(t.entries)",
}, {
	bug: "an entry is taken out and the way over it is interrupted",
	in:  "index.table.remove",
	old: "			t.store(e, hole, &t.entries[i])\n			hole = i\n",
	new: "",
}, {
	bug: "an entry moves to where no search for it begins",
	in:  "index.table.remove",
	old: "t.distance(t.home(t.entries[i].hash), i) >= t.distance(hole, i)",
	new: "true",
}, {
	bug: "two keys of one hash are one",
	in:  "index.findSlot",
	old: " && e.text.is(key)",
	new: "",
}, {
	bug: "keys of other namespaces are found",
	in:  "index.keyText.is",
	old: " && text[:n] == key.Namespace",
	new: "",
}, {
	bug: "a key without a namespace is that of the name with a slash",
	in:  "index.keyText.is",
	old: "s.prefix == 0 && ",
	new: "",
}, {
	bug: "hashes depend on the lengths of keys alone",
	in:  "index.keyHasher.sum",
	old: "	return mix(head^h.secret, tail^state)\n",
	new: "	_, _ = head, tail\n	return mix(h.secret, state)\n",
}, {
	bug: "a table that readers hold is written to",
	in:  "index.hashTable.own",
	old: "	if in.gen != e.gen {\n",
	new: "	if in.gen > e.gen {\n",
}, {
	bug: "a list of tables that readers hold is written to",
	in:  "index.hashTable.ownList",
	old: "	if t.listGen != e.gen {\n",
	new: "	if t.listGen > e.gen {\n",
}, {
	bug: "a split leaves half of a table's hashes to the old table",
	in:  "index.hashTable.grow",
	old: "	t.replace(e, hash|bit, halves[1])\n",
	new: "",
}, {
	bug: "tables are never joined",
	in:  "index.hashTable.join",
	old: "	if other.depth != in.depth || in.used+other.used > maxJoined {\n",
	new: "	if in.used+other.used >= 0 {\n",
}, {
	bug: "the list of tables stays as long as it once was",
	in:  "index.hashTable.join",
	old: "	for t.deepest == 0 && len(t.list) > 1 {\n",
	new: "	for t.deepest > t.used && len(t.list) > 1 {\n",
}, {
	bug: "a list of pages that readers hold is written to",
	in:  "index.vector.ownTable",
	old: "	if v.tableGen != e.gen {\n",
	new: "	if v.tableGen > e.gen {\n",
}, {
	bug: "an object that was removed is kept in memory",
	in:  "index.vector.pop",
	old: "	clear(page[last:])\n",
	new: "",
}, {
	bug: "views are never noticed",
	in:  "index.epoch.begin",
	old: "	if e.shared.Load() {\n",
	new: "	if !e.shared.Load() {\n",
}, {
	bug: "the positions of an index key that readers hold are written to",
	in:  "index.postings.places",
	old: "	s.lists.share()\n",
	new: "",
}, {
	bug: "the list of an index key is not copied",
	in:  "index.postings.ownList",
	old: "	if l.gen != s.shape.gen {\n",
	new: "	if l.gen > s.shape.gen {\n",
}, {
	bug: "an index key that no object has any more stays",
	in:  "index.postings.unlink",
	old: "		s.keys.remove(&s.shape, p.hash, m.id)\n",
	new: "",
}, {
	bug: "an object that moves within an index key is not found there again",
	in:  "index.postings.unlink",
	old: "		s.setPlace(moved, m.id, m.at)\n",
	new: "",
}, {
	bug: "an object is twice under an index key that it has twice",
	in:  "index.postings.assignMany",
	old: "	s.ids = slices.Compact(s.ids)\n",
	new: "",
}, {
	bug: "the places of runs are never used again",
	in:  "index.postings.freeRun",
	old: "	s.freeRuns[size] = from\n",
	new: "",
}, {
	bug: "a range over several index keys has objects twice",
	in:  "index.matches.all",
	old: "(i == 0 || !m.isIn(pos, i)) && ",
	new: "",
}, {
	bug: "a union has objects twice",
	in:  "index.set.allOfParts",
	old: "!isInOne(s.parts[:i], pos) && ",
	new: "",
}, {
	bug: "objects of the same key are in no order in an ordered index",
	in:  "index.orderedEntry.compare",
	old: ", cmp.Compare(e.name.Name, other.name.Name)",
	new: "",
}, {
	bug: "a page of a range repeats the last object of the one before",
	in:  "index.Range.After",
	old: ", after: true",
	new: "",
}, {
	bug: "a range has the key below which it ends",
	in:  "index.Range.isAfter",
	old: "<= 0",
	new: "< 0",
}, {
	bug: "the range of a prefix goes to the end",
	in:  "index.Prefix",
	old: "	if len(end) > 0 {\n",
	new: "	if len(end) > len(p) {\n",
}, {
	bug: "a snapshot outlives a bookmark",
	in:  "index.Indexer.SetResourceVersion",
	old: "	x.snapshot = nil\n",
	new: "",
}, {
	bug: "a released store keeps its objects",
	in:  "index.Indexer.Release",
	old: "		x.clear(0)\n",
	new: "",
}, {
	bug: "a released store has no objects, and does not say why",
	in:  "index.Indexer.Get",
	old: "	if released { // for good\n",
	new: "	if false && released {\n",
}, {
	bug: "an object is found by a key of the same hash",
	in:  "index.Indexer.Get",
	old: "text.is(key)",
	new: "text.size > 0",
}, {
	bug: "an entry is read without the lock, half before a write and half after it",
	in:  "index.optimistic.read",
	old: "o.writes.Load() == before",
	new: "true",
}, {
	bug: "a table is searched without the lock by the bits of another list",
	in:  "index.optimistic.table",
	old: " || o.writes.Load() != before",
	new: "",
}, {
	bug: "a read without the lock begins during a write",
	in:  "index.optimistic.table",
	old: " || before%2 != 0",
	new: "",
}, {
	bug: "a read without the lock does not notice that a write begins",
	in:  "index.Indexer.lock",
	old: "		x.optimistic.writes.Add(1)\n",
	new: "",
}, {
	bug: "a free entry keeps the key of its last object",
	in:  "index.table.clear",
	old: "	atomic.StorePointer(&(*keyText)(unsafe.Pointer(&to.text)).data, nil)\n",
	new: "",
}, {
	bug: "half of an object of two words is read",
	in:  "index.Indexer.applyOne",
	old: "x.optimistic.words > 1",
	new: "x.optimistic.words > 2",
}, {
	bug: "an update of a table that was copied is not found by its key",
	in:  "index.Indexer.unlock",
	old: "o.words > 0",
	new: "counted",
}}

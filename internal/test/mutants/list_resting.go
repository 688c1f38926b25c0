package main

// resting are bugs of keys that rest, and of the memory that is given back.
var resting = []mutation{{
	bug: "a key that is done rests although it waits",
	in:  "queue.WorkQueue.rest",
	old: "	if e.state != 0 {\n		return\n	}\n",
	new: "",
}, {
	bug: "a key that rests is in no list",
	in:  "queue.WorkQueue.rest",
	old: "	q.keys.resting.Append(&e.node)\n",
	new: "	if q.keys.resting.First == nil {\n		q.keys.resting.Append(&e.node)\n	}\n",
}, {
	bug: "keys that rest are not counted",
	in:  "queue.WorkQueue.rest",
	old: "	q.keys.rest++\n",
	new: "",
}, {
	bug: "keys that refer to others rest",
	in:  "queue.WorkQueue.rest",
	old: "	if q.refers {\n",
	new: "	if false {\n",
}, {
	bug: "entries of keys that refer to others are not used again",
	in:  "queue.WorkQueue.rest",
	old: "		q.keys.spare.Put(e, kept)\n",
	new: "",
}, {
	bug: "entries are kept to spare without end",
	in:  "queue.WorkQueue.rest",
	old: "q.keys.spare.Put(e, kept)",
	new: "q.keys.spare.Put(e, 1<<20)",
}, {
	bug: "who is forgotten stays among those that rest",
	in:  "queue.WorkQueue.forget",
	old: "	q.keys.getUp(e)\n",
	new: "	q.keys.rest--\n",
}, {
	bug: "who is forgotten stays in the map",
	in:  "queue.WorkQueue.forget",
	old: "	q.keys.by.Delete(e.key)\n",
	new: "",
}, {
	bug: "a tenant whose keys are forgotten stays",
	in:  "queue.WorkQueue.forget",
	old: "	q.schedule.tenants.leave(e.tenant)\n",
	new: "",
}, {
	bug: "an entry to spare keeps its key alive",
	in:  "queue.WorkQueue.forget",
	old: "	*e = entry[K]{}\n",
	new: "",
}, {
	bug: "a key that is added stays among those that rest",
	in:  "queue.keyTable.getUp",
	old: "	t.resting.Remove(&e.node)\n",
	new: "",
}, {
	bug: "a key that is added counts as one that rests",
	in:  "queue.keyTable.getUp",
	old: "	t.rest--\n",
	new: "",
}, {
	bug: "a key that rests is added without getting up",
	in:  "queue.WorkQueue.add",
	old: "	case e.state == 0:\n		q.keys.getUp(e)\n",
	new: "",
}, {
	bug: "what is needed is not noted",
	in:  "queue.WorkQueue.add",
	old: "	q.keys.needed.Note(q.keys.wanted())\n",
	new: "",
}, {
	bug: "a new key takes the entry of another although there is room",
	in:  "queue.WorkQueue.newEntry",
	old: "first != nil && q.keys.by.Len() >= q.keys.keeps()",
	new: "first != nil",
}, {
	bug: "a new key never takes the entry of another",
	in:  "queue.WorkQueue.newEntry",
	old: "first != nil && q.keys.by.Len() >= q.keys.keeps()",
	new: "first != nil && false",
}, {
	bug: "an entry that another key takes is found under both",
	in:  "queue.WorkQueue.newEntry",
	old: "		q.forget(e)\n",
	new: "		q.keys.getUp(e)\n		q.schedule.tenants.leave(e.tenant)\n",
}, {
	bug: "a new key is not found again",
	in:  "queue.WorkQueue.newEntry",
	old: "	q.keys.by.Put(e.key, e)\n",
	new: "",
}, {
	bug: "the key that has rested longest is taken for any other",
	in:  "queue.keyTable.get",
	old: "n != nil && n.Of.key == key",
	new: "n != nil",
}, {
	bug: "what was needed lately is not kept",
	in:  "queue.keyTable.keeps",
	old: "max(kept, t.needed.Lately())",
	new: "kept",
}, {
	bug: "all that was ever needed is kept",
	in:  "queue.WorkQueue.trim",
	old: "		q.keys.needed.Look(q.keys.wanted())\n",
	new: "",
}, {
	bug: "the heap of delays does not shrink",
	in:  "queue.WorkQueue.trim",
	old: "		q.delays.Trim()\n",
	new: "",
}, {
	bug: "keys that rest are never forgotten",
	in:  "queue.WorkQueue.trim",
	old: "q.forgetSome() || ",
	new: "",
}, {
	bug: "the map of keys does not shrink",
	in:  "queue.WorkQueue.trim",
	old: " || q.keys.by.Shrink(trimStep)",
	new: "",
}, {
	bug: "the map of tenants does not shrink",
	in:  "queue.WorkQueue.trim",
	old: " || q.schedule.tenants.by.Shrink(trimStep)",
	new: "",
}, {
	bug: "memory is given back once",
	in:  "queue.WorkQueue.trim",
	old: "		q.trimLater(now)\n",
	new: "",
}, {
	bug: "nobody looks at what is not needed any more",
	in:  "queue.WorkQueue.trimLater",
	old: "		q.alarm.At(q.memory.next)\n",
	new: "",
}, {
	bug: "keys are forgotten all at once",
	in:  "queue.WorkQueue.forgetSome",
	old: "	for range trimStep {\n",
	new: "	for {\n",
}, {
	bug: "the key that has rested for the shortest time is forgotten first",
	in:  "queue.WorkQueue.forgetSome",
	old: "q.forget(q.keys.resting.First.Of)",
	new: "q.forget(q.keys.resting.Last.Of)",
}, {
	bug: "all keys that rest are forgotten",
	in:  "queue.WorkQueue.forgetSome",
	old: " || q.keys.by.Len() <= q.keys.keeps()",
	new: "",
}, {
	bug: "a queue that was shut down keeps its keys",
	in:  "queue.WorkQueue.letGo",
	old: "		q.keys = keyTable[K]{}\n",
	new: "",
}, {
	bug: "a queue that was shut down lets go while it has keys",
	in:  "queue.WorkQueue.letGo",
	old: "q.shutDown && q.keys.wanted() == 0",
	new: "q.shutDown",
}}

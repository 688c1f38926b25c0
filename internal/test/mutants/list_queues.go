package main

// ofQueues are bugs of what queues are built on, and of spares.
var ofQueues = []mutation{{
	bug: "a key that has failed comes back with no priority",
	in:  "queue.WorkQueue.AddRateLimited",
	old: "keep: true",
	new: "keep: false",
}, {
	bug: "a key that is to come back later does so with no priority",
	in:  "queue.WorkQueue.AddAfter",
	old: "keep: true",
	new: "keep: false",
}, {
	bug: "a key that is not being processed has the priority of before",
	in:  "queue.WorkQueue.add",
	old: "r.keep && e.inState(processing)",
	new: "r.keep",
}, {
	bug: "of what comes due, the later one moves up",
	in:  "internal/container.Heap.down",
	old: "other.before(first)",
	new: "first.before(other)",
}, {
	bug: "what moves down stays above what is earlier",
	in:  "internal/container.Heap.down",
	old: "		if !first.before(&e) {\n			break\n		}\n",
	new: "		if first.before(&e) {\n			break\n		}\n",
}, {
	bug: "what takes the place of what was taken out does not move up",
	in:  "internal/container.Heap.Remove",
	old: "	case at > 0 && last.before(h.at((at-1)/4)):\n		h.up(at, last)\n",
	new: "",
}, {
	bug: "of what is due at one time, the last comes first",
	in:  "internal/container.element.before",
	old: "int32(e.seq-other.seq) < 0",
	new: "int32(e.seq-other.seq) > 0",
}, {
	bug: "what moves does not know its place",
	in:  "internal/container.Heap.set",
	old: "	e.item.place = int32(i)\n",
	new: "",
}, {
	bug: "a heap keeps what was taken out alive",
	in:  "internal/container.Heap.Remove",
	old: "	*h.at(h.len) = element[E]{}\n",
	new: "",
}, {
	bug: "a heap gives nothing back",
	in:  "internal/container.Heap.Trim",
	old: "pages < len(h.pages)",
	new: "pages > len(h.pages)",
}, {
	bug: "what has not moved to the smaller map is not found",
	in:  "internal/container.Map.Get",
	old: "	if v == nil && s.old != nil {\n		v = s.old[key]\n	}\n",
	new: "",
}, {
	bug: "what is set while a map moves has its old value later",
	in:  "internal/container.Map.Put",
	old: "		delete(s.old, key)\n",
	new: "		_ = key\n",
}, {
	bug: "what is deleted while a map moves comes back",
	in:  "internal/container.Map.Delete",
	old: "	delete(s.old, key)\n",
	new: "",
}, {
	bug: "a map moves at once",
	in:  "internal/container.Map.Shrink",
	old: "		if n == 0 {\n			return true\n		}\n",
	new: "",
}, {
	bug: "a map never shrinks",
	in:  "internal/container.Map.Shrink",
	old: "if !s.IsLarge() || ",
	new: "if true || ",
}, {
	bug: "a tenant keeps a place for each priority that it ever had",
	in:  "queue.tenant.flow",
	old: "			free = f\n",
	new: "			_ = f\n",
}, {
	bug: "a tenant that had none waiting comes before those that had",
	in:  "queue.schedule.pop",
	old: "		l.flows.Remove(&f.node)\n		l.flows.Append(&f.node)\n",
	new: "",
}, {
	bug: "the level that was passed over most often has no turn",
	in:  "queue.schedule.pop",
	old: "s.turns-s.levels[0].lastTurn < s.ageing",
	new: "true",
}, {
	bug: "events that were merged away are kept to spare without end",
	in:  "internal/eventlog.Coalescer.remove",
	old: "	if c.spares < container.KeptKeys {\n",
	new: "	if true {\n",
}, {
	bug: "events to spare keep objects alive",
	in:  "internal/eventlog.Coalescer.remove",
	old: "	*p = pending[T]{}\n",
	new: "",
}, {
	bug: "events are not used again",
	in:  "internal/eventlog.Coalescer.remove",
	old: "		p.next, c.spare = c.spare, p\n",
	new: "		_ = p\n",
}, {
	bug: "events to spare are counted when they come only",
	in:  "internal/eventlog.Coalescer.append",
	old: "		c.spares--\n",
	new: "",
}, {
	bug: "an event that is used again stays to spare",
	in:  "internal/eventlog.Coalescer.append",
	old: "		c.spare = p.next\n",
	new: "",
}, {
	bug: "a reader that was closed keeps its spares",
	in:  "internal/eventlog.Coalescer.Close",
	old: "	c.spare, c.spares = nil, 0\n",
	new: "",
}}

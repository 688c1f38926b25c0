package main

// ownWrites are bugs where answers to own writes and the watch come together: one for
// each rule.
var ownWrites = foundBy(tests("internal/ownwrites", "TestSequences"), []mutation{{
	bug: "an answer that the watch has overtaken is taken",
	in:  "internal/ownwrites.Filter.Answered",
	old: "	if f.listed && s.Version <= f.reached {\n",
	new: "	if false {\n",
}, {
	bug: "an answer takes back a later one",
	in:  "internal/ownwrites.Filter.Answered",
	old: "ok && s.Version <= e.Version {\n",
	new: "ok && s.Version < 0*e.Version {\n",
}, {
	bug: "a state is taken of an object whose deletion was answered",
	in:  "internal/ownwrites.Filter.Answered",
	old: "		s.Outside, s.Held = true, false",
	new: "		s.Outside, s.Held = false, false",
}, {
	bug: "the watch takes back an answer that it has not come to",
	in:  "internal/ownwrites.Filter.judge",
	old: "e.Version > version || ",
	new: "",
}, {
	bug: "the watch repeats the state that was answered",
	in:  "internal/ownwrites.Filter.judge",
	old: "e.Version == version && !e.Unsure",
	new: "false",
}, {
	bug: "a deletion that a finalizer held up is left out",
	in:  "internal/ownwrites.Filter.judge",
	old: "	case ok && e.Held && deleted && e.UID == uid && version > e.sure && !dead:\n",
	new: "	case false:\n",
}, {
	bug: "the watch brings back an object whose deletion was answered",
	in:  "internal/ownwrites.Filter.judge",
	old: ", dead && !deleted:\n",
	new: ":\n",
}, {
	bug: "an object that the watch never mentions stays",
	in:  "internal/ownwrites.Filter.reach",
	old: "				gone = append(gone, v.key)\n",
	new: "",
}, {
	bug: "a list that is older than an answer takes it back",
	in:  "internal/ownwrites.Filter.List",
	old: "		if e.Version <= version || ",
	new: "		if e.Version > 0 || ",
}, {
	bug: "a list leaves out what was created after it",
	in:  "internal/ownwrites.Filter.Rest",
	old: "case e.Outside || has(key):",
	new: "case !e.Outside || has(key):",
}, {
	bug:   "a write that had begun before bounds a deletion",
	in:    "internal/ownwrites.Filter.bound",
	old:   "write <= d.write",
	new:   "write < 0*d.write",
	suite: tests("internal/ownwrites", "TestDeletionsAreForgotten"),
}, {
	bug:   "a deletion that no version is known after is remembered for ever",
	in:    "internal/ownwrites.Filter.expire",
	old:   "			delete(f.dead, uid)\n",
	new:   "			_ = uid\n",
	suite: tests("internal/ownwrites", "TestDeletionsAreForgotten"),
}, {
	bug:   "what never comes stays",
	in:    "internal/ownwrites.Filter.expire",
	old:   "		if now.Sub(e.since) >= Patience {\n",
	new:   "		if false {\n",
	suite: tests("internal/ownwrites", "TestRelist"),
}, {
	bug:   "answers of a history that is gone are kept",
	in:    "internal/ownwrites.Filter.List",
	old:   "	if unbound && version < f.reached {",
	new:   "	if false {",
	suite: tests("internal/ownwrites", "TestAnotherHistory"),
}, {
	bug:   "dry runs of deletions are taken for deletions",
	in:    "internal/answers.isDryRun",
	old:   " || len(opts.DryRun) > 0",
	new:   "",
	suite: tests("typed/kube", "TestOwnWritesOutsideTheTable"),
}, {
	bug:   "the removal of the last finalizer is taken for a state",
	in:    "internal/answers.answer.readObject",
	old:   "m.DeletionTimestamp != nil && finalized && !graceful\n",
	new:   "false\n",
	suite: tests("typed/kube", "TestOwnWritesOfEachKind"),
}, {
	bug:   "callers are not held until reads have their writes",
	in:    "internal/answers.Answers.deliver",
	old:   "		if read[i] == nil {\n",
	new:   "		if read[i] != nil || r != nil {\n",
	suite: tests("typed/kube", "TestOwnWritesOfManyWorkers"),
}, {
	bug:   "callers are held until all namespaces are listed",
	in:    "internal/answers.Follower.offer",
	old:   "	if !f.live.Load() {\n",
	new:   "	if false {\n",
	suite: tests("typed/kube", "TestOwnWritesOfNamespaces"),
}, {
	bug:   "an object that a write takes out of the selection stays",
	in:    "internal/answers.Follower.judge",
	old:   "	s.Outside = !selection.selects(a.key, a.labels)\n",
	new:   "",
	suite: tests("typed/kube", "TestOwnWritesAndSelectors"),
}, {
	bug:   "a source of another configuration runs, and never has a write",
	in:    "internal/answers.Follower.Replace",
	old:   "	if f.of.Load() == nil {\n",
	new:   "	if false {\n",
	suite: tests("typed/kube", "TestWritesOfAnotherClient"),
}, {
	bug: "a list that is older than a held up deletion removes the object",
	in:  "internal/ownwrites.Filter.Rest",
	old: "		case e.yields(f.reached):\n",
	new: "		case e.Held:\n",
}, {
	bug: "an older list takes back an object whose deletion is held up",
	in:  "internal/ownwrites.Filter.Item",
	old: "e.UID != uid && e.yields(f.reached):\n",
	new: "e.UID != uid && e.Held:\n",
}, {
	bug:   "old answers are searched for with each report",
	in:    "internal/ownwrites.Filter.expire",
	old:   " || now.Sub(f.looked) < Patience/60 {\n",
	new:   " {\n",
	suite: tests("internal/ownwrites", "TestManyDeletions"),
}, {
	bug:   "versions of own writes are moved with each report",
	in:    "internal/ownwrites.Filter.reach",
	old:   "	f.versions = without(f.versions, n)\n",
	new:   "	f.versions = slices.Delete(f.versions, 0, n)\n",
	suite: tests("internal/ownwrites", "TestCostOfALateWatch"),
}, {
	bug:   "own writes keep the memory of a burst",
	in:    "internal/ownwrites.Filter.reach",
	old:   "	f.shrink()\n",
	new:   "",
	suite: tests("internal/ownwrites", "TestFilterGivesBack"),
}})

package main

// servers are bugs of the in-memory API server, which the suite that also runs on a real one
// has to find.
var servers = foundBy(tests("apitest", "TestConformance"), []mutation{{
	bug: "the removal of the last finalizer is answered with a new version",
	in:  "apitest.update.commit",
	old: "		copyVersion(present.Object, wanted)\n",
	new: "		m := wanted.(metav1.Object)\n		m.SetResourceVersion(\"1\" + m.GetResourceVersion())\n",
}, {
	bug: "an update that changes nothing is stored",
	in:  "apitest.update.commit",
	old: "	case u.collection.equal(present.Object, wanted):\n",
	new: "	case false:\n",
}, {
	bug: "an update of a dry run is stored",
	in:  "apitest.update.commit",
	old: "	case u.dryRun:\n",
	new: "	case false:\n",
}, {
	bug: "an update of another version is accepted",
	in:  "apitest.update.check",
	old: "	case rv != old.GetResourceVersion():\n",
	new: "	case false:\n",
}, {
	bug: "an update of the status changes the rest",
	in:  "apitest.update.complete",
	old: "		return merged, nil\n	case finalizerPart:\n",
	new: "		return wanted, nil\n	case finalizerPart:\n",
}, {
	bug: "an update changes the status, which is a subresource",
	in:  "apitest.update.complete",
	old: "		copyStatus(present, wanted)\n",
	new: "",
}, {
	bug: "a finalizer without a domain is accepted for kinds of Kubernetes",
	in:  "apitest.collection.validateFinalizers",
	old: "!strings.Contains(finalizer, \"/\") && ",
	new: "false && ",
}, {
	bug: "the name of a StatefulSet may have dots",
	in:  "apitest.collection.nameFunc",
	old: ", kind == schema.GroupKind{Group: \"apps\", Kind: \"StatefulSet\"}:\n",
	new: ":\n",
}, {
	bug: "finalizers of custom resources are applied as one field",
	in:  "apitest.customTypes.ObjectToTyped",
	old: "		return c.parseable.FromUnstructured(",
	new: "		return typed.DeducedParseableType.FromUnstructured(",
}, {
	bug: "an object that is marked twice is stored twice",
	in:  "apitest.removal.attempt",
	old: "	case next == alreadyMarked:\n",
	new: "	case false:\n",
}, {
	bug: "a deletion of a dry run is done",
	in:  "apitest.removal.attempt",
	old: "	case dryRun:\n",
	new: "	case false && dryRun:\n",
}, {
	bug: "a finalizer holds nothing",
	in:  "apitest.removal.mark",
	old: "	case held:\n",
	new: "	case false:\n",
}, {
	bug: "a deletion of another UID is accepted",
	in:  "apitest.removal.checkPreconditions",
	old: "wanted.UID != nil && ",
	new: "wanted.UID == nil && ",
}, {
	bug: "a deletion is answered without the UID",
	in:  "apitest.deletedStatus",
	old: ", UID: m.GetUID()",
	new: "",
}, {
	bug: "a watch from no version begins without the objects",
	in:  "apitest.stream.wantsInitial",
	old: "st.options.SendInitialEvents == nil || ",
	new: "st.options.SendInitialEvents != nil && ",
}, {
	bug: "labels select nothing",
	in:  "apitest.selection.matches",
	old: "(s.labels.Empty() || s.labels.Matches(labels.Set(m.GetLabels())))",
	new: "(s.labels.Empty() || m != nil)",
}, {
	bug: "a watch of a namespace has the events of all",
	in:  "apitest.selection.inNamespace",
	old: "	if s.namespace == \"\" || !s.collection.namespaced {\n",
	new: "	if true {\n",
}, {
	bug: "a Node is created without its status",
	in:  "apitest.collection.clearsStatus",
	old: "c.status && c.kind.GroupKind() != schema.GroupKind{Kind: \"Node\"}",
	new: "c.status && c.kind.GroupKind() != schema.GroupKind{}",
}, {
	bug: "a watch with a negative timeout does not end",
	in:  "apitest.stream.serve",
	old: "*seconds != 0",
	new: "*seconds > 0",
}, {
	bug: "an update of an absent Lease creates nothing",
	in:  "apitest.Server.serveUpdate",
	old: "u.collection.creates && ",
	new: "u.collection.creates && u.collection.custom && ",
}, {
	bug: "a generation counts no changes of metadata",
	in:  "apitest.update.complete",
	old: "!(c.sameContent(present, wanted) && c.sameMetadata(old, m))",
	new: "!c.sameContent(present, wanted)",
}, {
	bug: "unknown fields of the metadata of custom resources are kept",
	in:  "apitest/internal/wire.pruneMetadata",
	old: "object[\"metadata\"], err = runtime",
	new: "_, err = runtime",
}, {
	bug: "labels of custom resources may be numbers",
	in:  "apitest/internal/wire.readMetadata",
	old: "	return m, json.Unmarshal(text, m)\n",
	new: "	return m, json.Unmarshal(text, &metav1.TypeMeta{})\n",
}, {
	bug:   "objects with private fields cannot be updated",
	in:    "apitest.collection.compare",
	old:   "		defer func() { _ = recover() }()\n",
	new:   "",
	suite: tests("apitest", "TestUnexportedFields"),
}, {
	bug:   "the event of a fault comes before objects that are there",
	in:    "apitest.Server.carryOut",
	old:   "in.command(s.store.Revision())",
	new:   "in.command(0)",
	suite: tests("apitest", "TestFaultEventOfAWatchThatBegins"),
}, {
	bug:   "a frozen write without a body is lost if its client gives up",
	in:    "apitest.Injection.delay",
	old:   "		if r.writes() {\n",
	new:   "		if false {\n",
	suite: tests("apitest", "TestFaultFreezeKeepsWrites"),
}, {
	bug:   "a server begins with no object that is deleted",
	in:    "apitest.creation.complete",
	old:   "	if !cr.seed {\n		m.SetDeletionTimestamp(nil)\n",
	new:   "	m.SetDeletionTimestamp(nil)\n	if !cr.seed {\n",
	suite: tests("apitest", "TestSeedKeepsMetadata"),
}, {
	bug:   "the event of an own deletion counts as none",
	in:    "apitest/history.step.reports",
	old:   "own && s.version == from",
	new:   "false",
	suite: tests("apitest/history", "TestOwnDeletions"),
}, {
	bug:   "a smaller seed fails in the same life",
	in:    "apitest/simulation.Failure.isOf",
	old:   "lifeNumber.ReplaceAllString(f.Check, \"\") == lifeNumber.ReplaceAllString(check, \"\")",
	new:   "f.Check == check",
	suite: tests("apitest/simulation", "TestCrashesAreLeftOut"),
}, {
	bug:   "a write that is given up arrives through a freeze",
	in:    "apitest/simulation.life.carry",
	old:   "travel(one.random, towards, fate.late, gone)",
	new:   "travel(one.random, towards, fate.late, one.gone)",
	suite: tests("apitest/simulation", "TestFreezeStopsAbandonedWrites"),
}, {
	bug:   "the end of a freeze ends another one",
	in:    "apitest/simulation.process.freeze",
	old:   "p.freezes[way]--; p.freezes[way] == 0",
	new:   "p.freezes[way] = 0; p.frozen[way] != nil",
	suite: tests("apitest/simulation", "TestOverlappingFaults"),
}})

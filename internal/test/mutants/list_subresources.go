package main

// subresources are bugs of the subresources of the in-memory API server, which the suite that also
// runs on a real one has to find.
var subresources = foundBy(tests("apitest", "TestConformance"), []mutation{{
	bug: "a Pod is bound twice",
	in:  "apitest.bind",
	old: "	case present.Spec.NodeName != \"\":\n",
	new: "	case false:\n",
}, {
	bug: "a binding counts as a change of the specification",
	in:  "apitest.update.attempt",
	old: "	if u.direct {\n",
	new: "	if false {\n",
}, {
	bug: "an eviction asks no budget",
	in:  "apitest.Server.allowEviction",
	old: "	case len(budgets) == 0:\n",
	new: "	case true:\n",
}, {
	bug: "an eviction of a Pod that is not ready takes from the budget",
	in:  "apitest.Server.allowEviction",
	old: "!isReady(pod) && sparesUnready(budget)",
	new: "false",
}, {
	bug: "a dry run of an eviction marks the Pod",
	in:  "apitest.eviction.markAndRemove",
	old: "dryRun: isDryRun(e.options.DryRun), direct: true",
	new: "direct: true",
}, {
	bug: "an eviction of another version is carried out",
	in:  "apitest.eviction.carryOut",
	old: "		if err := e.checkPreconditions(pod); err != nil {\n			return err\n		}\n",
	new: "		e.options.Preconditions = nil\n",
}, {
	bug: "a scale of an old version is written",
	in:  "apitest.Server.rescale",
	old: "after.ResourceVersion != \"\"",
	new: "false",
}, {
	bug: "the managed fields of a scale are lost",
	in:  "apitest.Server.rescale",
	old: "		m.SetManagedFields(owned)\n",
	new: "		_ = owned\n",
}, {
	bug: "the scale of a custom resource loses its other fields",
	in:  "apitest.collection.withReplicas",
	old: "unstructured.SetNestedField(content, int64(n), \"spec\", \"replicas\")",
	new: "unstructured.SetNestedField(content, map[string]any{\"replicas\": int64(n)}, \"spec\")",
}})

package main

// listers are bugs of listers.
var listers = []mutation{{
	bug: "a lister reads an object by name in all namespaces",
	in:  "lister.reads.Get",
	old: "index.Key{Namespace: s.namespace, Name: name}",
	new: "index.Key{Name: name}",
}, {
	bug: "a lister of a namespace lists all of them",
	in:  "lister.reads.List",
	old: "		if s.namespace == \"\" {\n",
	new: "		if true {\n",
}, {
	bug: "a lister ranges over all namespaces",
	in:  "lister.reads.All",
	old: "		if s.namespace == \"\" {\n",
	new: "		if true {\n",
}, {
	bug: "the last objects of a selection are left out",
	in:  "lister.reads.All",
	old: "		b.flush(&matcher, yield)\n	}\n",
	new: "		_ = matcher\n	}\n",
}, {
	bug: "a selector of labels that are left out matches nothing",
	in:  "lister.reads.check",
	old: "ok && from.Omits(\"metadata.labels\")",
	new: "ok && from == nil",
}, {
	bug: "objects of a store that was released are not found",
	in:  "lister.reads.recoverReleased",
	old: "	*err = fmt.Errorf(\"%s %s: %w\", verb, s.called(), released)\n",
	new: "	*err = fmt.Errorf(\"%s %s: %v\", verb, s.called(), released)\n",
}, {
	bug: "errors leave out the group of the resource",
	in:  "lister.reads.called",
	old: "		return s.resource\n",
	new: "		return schema.GroupResource{Resource: s.resource.Resource}\n",
}, {
	bug: "errors do not ask the store for its resource",
	in:  "lister.reads.called",
	old: "		if resource := store.GroupResource(); !resource.Empty() {\n",
	new: "		if resource := store.GroupResource(); resource.Empty() {\n",
}}

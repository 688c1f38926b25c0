// Package source contains the sources of informers. A [Source] lists and watches, and reports
// every change to a [Sink], which informers of package typed have. Package kube has the
// sources that ask an API server; package adapters has one on another informer, and a test's
// own events are a source as well.
//
// Sources are made of others: [Map] and [FilterMap] keep what is needed of objects, and
// [FromNamespaces] follows a set of [Namespaces] that changes.
//
// Read source.go first: the two interfaces are all that informers know. Then filtermap.go,
// and fromnamespaces.go with namespacesink.go, which has the part of one namespace, and
// namespacegroup.go, which brings the parts into one order. No package of Kubernetes' client is
// needed here.
package source

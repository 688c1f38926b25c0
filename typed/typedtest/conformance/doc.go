// Package conformance checks that a server speaks the Kubernetes API as clients
// rely on: objects, lists, watches, selectors, patches, discovery, and what
// client-go's own informers make of them; in JSON, protobuf and CBOR.
//
// A check that fails tells of a difference that clients can notice. The suite asks
// nothing that a real server does not do.
//
// It runs against any server: the one in memory of typedtest, or a real
// kube-apiserver. It uses ConfigMaps, Pods, Deployments and ControllerRevisions of
// one namespace, and a custom resource if the rig has one. It expects no
// controllers and no admission that changes or refuses Pods (such as
// ServiceAccount).
package conformance

// Package conformance has two suites that run against any server: the one in
// memory of apitest, or a real kube-apiserver.
//
// TestServer checks that the server speaks the Kubernetes API as clients rely on: objects,
// lists, watches, selectors, patches, server-side apply, discovery, and what client-go's own
// informers make of them; in JSON and protobuf. A failed check reveals a difference that clients
// can notice. The suite asks nothing that a real server does not do.
//
// TestInformer checks that informers keep their promises on the server, however they get their
// objects. A failed check reveals a broken promise, or a server that TestServer should not have
// passed.
//
// The suites use ConfigMaps, Pods, Deployments and ControllerRevisions of one
// namespace, Pods of another one, which they make, ClusterRoles whose names begin
// with that of the namespace, and a custom resource if the rig has one. They expect
// no controllers that touch those, and no admission that changes or refuses Pods
// (such as ServiceAccount).
package conformance

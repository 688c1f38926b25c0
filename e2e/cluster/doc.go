// Package cluster starts a real Kubernetes control plane for tests and
// demonstrations: the kube-apiserver and etcd of the pinned release, built from
// Go modules, on 127.0.0.1 and without a container, a download or a root user.
//
//	c, err := cluster.Start(ctx)
//	if err != nil {
//		return err
//	}
//	defer c.Stop()
//	client, err := kubernetes.NewForConfig(c.Config())
//
// There are no nodes, no controllers and no scheduler: objects stay as they
// were written, except for what admission and defaulting do to them, and a
// service account is not needed to create a Pod.
//
// The API server and etcd are two processes of one program, cmd/controlplane,
// so that one of them can be killed and started again. Both end, and the data
// are removed, when the process that called [Start] goes away for any reason:
// return, panic, signal or kill.
//
// The first build of that program compiles Kubernetes: some minutes on two
// cores, and 3 GB of Go's build cache. Later builds take seconds.
package cluster

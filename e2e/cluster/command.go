package cluster

import "strconv"

// apiserverArguments returns the arguments of the control plane's program for kube-apiserver:
// this package's, and last the caller's.
func (c *Cluster) apiserverArguments() []string {
	args := []string{
		"apiserver",
		"--etcd-servers=unix://" + c.etcdSocket(),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.port),
		// Named, since the default is the address of a network that the
		// machine may not have.
		"--advertise-address=127.0.0.1",
		"--cert-dir=" + c.credentials.certDir,
		"--tls-cert-file=" + c.credentials.certFile,
		"--tls-private-key-file=" + c.credentials.keyFile,
		"--token-auth-file=" + c.credentials.tokenFile,
		// Otherwise an open watch holds a graceful stop for a minute.
		"--shutdown-watch-termination-grace-period=2s",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.credentials.serviceAccountKey,
		"--service-account-signing-key-file=" + c.credentials.serviceAccountKey,
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=RBAC",
		// No controller makes the service account that this plugin asks of
		// every Pod.
		"--disable-admission-plugins=ServiceAccount",
		// The service "kubernetes" has no use for an endpoint on 127.0.0.1,
		// which is refused anyway.
		"--endpoint-reconciler-type=none",
	}
	return append(args, c.options.flags...)
}

package cluster

import "strconv"

// apiserverCommand returns what the API server is called and its arguments for
// the control plane's program: the flags that the two kinds of it share, those
// of kube-apiserver alone, and last the caller's.
func (c *Cluster) apiserverCommand() (name string, args []string) {
	shared := []string{
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
	}
	if c.options.generic {
		args = append([]string{"generic"}, shared...)
		return "generic API server", append(args, c.options.flags...)
	}
	args = append([]string{"apiserver"}, shared...)
	args = append(args,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.credentials.serviceAccountKey,
		"--service-account-signing-key-file="+c.credentials.serviceAccountKey,
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=RBAC",
		// No controller makes the service account that this plugin asks of
		// every Pod.
		"--disable-admission-plugins=ServiceAccount",
		// The service "kubernetes" has no use for an endpoint on 127.0.0.1,
		// which is refused anyway.
		"--endpoint-reconciler-type=none",
	)
	return "kube-apiserver", append(args, c.options.flags...)
}

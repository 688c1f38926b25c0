package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// ErrStopped is returned by the methods of a cluster after [Cluster.Stop].
var ErrStopped = errors.New("cluster is stopped")

// Cluster is one running etcd and one API server in front of it, which is
// kube-apiserver unless [WithGenericServer] says otherwise.
//
//  1. Its address, credentials and data stay the same from [Start] to Stop,
//     whatever happens to the API server in between.
//  2. Its folder and its processes are gone when Stop returns, and also, a
//     moment later, when this process ends without calling Stop.
//  3. All methods are safe for concurrent use. Those that change the state of
//     the servers run one after the other.
type Cluster struct {
	options options
	dir     string // everything the cluster writes is below it
	port    int    // of the API server, on 127.0.0.1

	credentials *credentials

	mu        sync.Mutex
	stopped   bool     // guarded by mu
	etcd      *process // guarded by mu; nil before the start and after Stop
	apiserver *process // guarded by mu; nil while it is down
}

// Start starts a cluster and returns it when the API server is ready and the
// namespace "default" exists. The caller must call Stop. ctx limits the start,
// not the life of the cluster.
//
// It returns an error if an option is wrong, if the program cannot be found or
// built, if ctx ends, or if one of the servers ends or is not ready within two
// minutes; then the error has the last lines of its log, and nothing is left
// running.
func Start(ctx context.Context, opts ...Option) (*Cluster, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if o.binary, err = findBinary(ctx, o); err != nil {
		return nil, err
	}
	c := &Cluster{options: o}
	if err := c.start(ctx); err != nil {
		return nil, fmt.Errorf("start cluster: %w", errors.Join(err, c.discard()))
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.port, err = freePort(); err != nil {
		return err
	}
	// A short name: a path of a unix socket has about a hundred bytes.
	if c.dir, err = os.MkdirTemp("", "e2e-"); err != nil {
		return fmt.Errorf("make a folder for the data: %w", err)
	}
	if c.credentials, err = newCredentials(filepath.Join(c.dir, "pki")); err != nil {
		return err
	}
	c.etcd, err = startProcess("etcd", filepath.Join(c.dir, "etcd.log"), c.options.binary, "etcd",
		"--dir", c.dir,
		"--client-socket", c.etcdSocket(),
		"--peer-socket", filepath.Join(c.dir, "peer.sock"))
	if err != nil {
		return err
	}
	return c.startAPIServer(ctx)
}

// Config returns how to reach the API server, as a member of system:masters:
// JSON, and without any limit on the rate of requests. The caller owns it.
func (c *Cluster) Config() *rest.Config {
	return &rest.Config{
		Host:            "https://" + c.address(),
		BearerToken:     c.credentials.token,
		TLSClientConfig: rest.TLSClientConfig{CAData: slices.Clone(c.credentials.ca)},
		QPS:             -1, // negative: unlimited
	}
}

// Kill ends the API server as a crash would: at once, with every connection cut. etcd keeps
// running. It returns nil if the API server is down already, and ErrStopped after Stop.
func (c *Cluster) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	if c.apiserver == nil {
		return nil
	}
	p := c.apiserver
	c.apiserver = nil
	return p.kill()
}

// Restart stops the API server in good order, unless it is down, and starts it
// again. It returns when the API server is ready. The first lists may be
// refused with 429 for about a second more, while its watch caches fill;
// client-go's clients try again by themselves.
//
// It returns ErrStopped after Stop, and otherwise the errors of Start, or one
// that says why the stop failed: for one, that the API server had crashed. The
// API server is down then, and Restart may be called again.
func (c *Cluster) Restart(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	if err := c.stopAPIServer(); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	if err := c.startAPIServer(ctx); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	return nil
}

// Stop stops the API server, then etcd, each in good order, waits for their
// end, and removes the folder. It does all of it even if a part fails, and
// returns what failed: a server that had ended by itself, ended badly or had to
// be killed, with the last lines of its log; or the removal. After the first
// call it does nothing and returns nil.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped = true
	errs := []error{c.stopAPIServer(), c.etcd.stop(), os.RemoveAll(c.dir)}
	c.etcd = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop cluster: %w", err)
	}
	return nil
}

// discard undoes a start that failed half-way.
func (c *Cluster) discard() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	var errs []error
	for _, p := range []*process{c.apiserver, c.etcd} {
		if p != nil {
			errs = append(errs, p.kill())
		}
	}
	c.apiserver, c.etcd = nil, nil
	if c.dir != "" {
		errs = append(errs, os.RemoveAll(c.dir))
	}
	return errors.Join(errs...)
}

// startAPIServer starts the API server and waits until it is ready. If that
// fails, it is down. The caller holds mu.
func (c *Cluster) startAPIServer(ctx context.Context) error {
	fmt.Fprintln(c.options.progress, "starting kube-apiserver…")
	begin := time.Now()
	p, err := startProcess("kube-apiserver", filepath.Join(c.dir, "apiserver.log"), c.options.binary, c.apiserverArguments()...)
	if err != nil {
		return err
	}
	if err := waitReady(ctx, c.Config(), c.etcd, p); err != nil {
		return errors.Join(err, p.kill())
	}
	c.apiserver = p
	fmt.Fprintf(c.options.progress, "kube-apiserver ready after %.1f s\n", time.Since(begin).Seconds())
	return nil
}

// stopAPIServer stops the API server if it is up. The caller holds mu.
func (c *Cluster) stopAPIServer() error {
	if c.apiserver == nil {
		return nil
	}
	p := c.apiserver
	c.apiserver = nil
	return p.stop()
}

// address is the host and port of the API server.
func (c *Cluster) address() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port))
}

// etcdSocket is the unix socket that etcd serves clients on.
func (c *Cluster) etcdSocket() string {
	return filepath.Join(c.dir, "etcd.sock")
}

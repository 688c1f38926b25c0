// Package target gives the end-to-end suites the server that they run on: a new cluster, or one
// that exists.
package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubetyped/informer/e2e/cluster"
)

const (
	// kubeconfigVariable is the environment variable that names the kubeconfig
	// file of a cluster that exists, to use its current context.
	kubeconfigVariable = "E2E_KUBECONFIG"

	// ownerLabel marks the namespaces that suites make.
	ownerLabel = "e2e.kubetyped.io/suite"

	// leftover is the age from which a namespace with that label is taken for
	// what a suite left that could not clean up, and removed.
	leftover = 2 * time.Hour

	requestTimeout = 30 * time.Second
)

// Target is the server that a suite runs on. Its methods are safe for concurrent
// use.
type Target struct {
	config *rest.Config
	client kubernetes.Interface
	own    *cluster.Cluster // nil: the cluster existed before

	mu         sync.Mutex
	namespaces map[string]bool // guarded by mu; made here and not yet removed
}

// Open returns the cluster whose kubeconfig the environment variable
// E2E_KUBECONFIG names, or starts one, with opts. The caller must Close it. ctx
// limits the start.
//
// On a cluster that exists, a suite works in namespaces that it makes and
// removes. It must be allowed to do everything; those left by a suite that could
// not remove them are removed by a later one, two hours on.
func Open(ctx context.Context, opts ...cluster.Option) (*Target, error) {
	t := &Target{namespaces: map[string]bool{}}
	if path := os.Getenv(kubeconfigVariable); path != "" {
		config, err := clientcmd.BuildConfigFromFlags("", path)
		if err != nil {
			return nil, fmt.Errorf("read the kubeconfig that %s names: %w", kubeconfigVariable, err)
		}
		config.QPS = -1 // unlimited, as with a new cluster
		t.config = config
	} else {
		own, err := cluster.Start(ctx, opts...)
		if err != nil {
			return nil, err
		}
		t.own = own
		t.config = own.Config()
	}
	err := t.connect(ctx)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Target) connect(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(t.config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	t.client = client
	if t.own != nil {
		return nil
	}
	return t.sweep(ctx, leftover)
}

// sweep removes what earlier suites left behind, if it is older than age.
func (t *Target) sweep(ctx context.Context, age time.Duration) error {
	list, err := t.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: ownerLabel})
	if err != nil {
		return fmt.Errorf("look for namespaces of earlier suites: %w", err)
	}
	var errs []error
	for _, ns := range list.Items {
		if time.Since(ns.CreationTimestamp.Time) > age {
			errs = append(errs, t.remove(ctx, ns.Name))
		}
	}
	return errors.Join(errs...)
}

// remove deletes a namespace, and does not wait until it is gone.
func (t *Target) remove(ctx context.Context, name string) error {
	err := t.client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove namespace %s: %w", name, err)
	}
	return nil
}

// Close stops the cluster if it was started by Open. From one that existed, it
// removes the namespaces that are left.
func (t *Target) Close() error {
	if t.own != nil {
		return t.own.Stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for name := range t.namespaces {
		errs = append(errs, t.remove(ctx, name))
	}
	clear(t.namespaces)
	return errors.Join(errs...)
}

// Config returns how to reach the server, with all rights and no limit on the
// rate of requests. The caller owns it.
func (t *Target) Config() *rest.Config { return rest.CopyConfig(t.config) }

// Own returns the cluster, or nil if it existed before the suite.
func (t *Target) Own() *cluster.Cluster { return t.own }

// Cluster returns the cluster, for a test that has to stop or change it. If it
// existed before the suite, the test is skipped.
func (t *Target) Cluster(tb testing.TB) *cluster.Cluster {
	tb.Helper()
	if t.own == nil {
		tb.Skipf("this test stops and restarts the servers, which are not its own: %s is set", kubeconfigVariable)
	}
	return t.own
}

// Kubeconfig returns a kubeconfig file for other programs, whose current context
// is the server with all rights. It needs no other file, except for what a plugin
// for credentials may read. The caller owns it.
func (t *Target) Kubeconfig() ([]byte, error) {
	if t.own != nil {
		return t.own.Kubeconfig()
	}
	config, err := clientcmd.LoadFromFile(os.Getenv(kubeconfigVariable))
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig that %s names: %w", kubeconfigVariable, err)
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return nil, fmt.Errorf("read the files of the kubeconfig that %s names: %w", kubeconfigVariable, err)
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig: %w", err)
	}
	return content, nil
}

// NewNamespace makes a namespace and returns its name. Close removes it.
func (t *Target) NewNamespace(ctx context.Context) (string, error) {
	ns, err := t.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-", Labels: map[string]string{ownerLabel: ""},
	}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create a namespace: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.namespaces[ns.Name] = true
	return ns.Name, nil
}

// Namespace makes a namespace for a test, and returns its name. It is removed
// when the test ends.
func (t *Target) Namespace(tb testing.TB) string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	name, err := t.NewNamespace(ctx)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		if t.own != nil {
			return // it goes with the cluster, which has no controller to remove it
		}
		ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
		defer cancel()
		if err := t.remove(ctx, name); err != nil {
			tb.Error(err)
			return
		}
		t.mu.Lock()
		delete(t.namespaces, name)
		t.mu.Unlock()
	})
	return name
}

// Main runs the tests of a package on a server that it opens, stores in *server and closes after
// them, even if they are interrupted. It returns the exit code for TestMain.
func Main(m *testing.M, server **Target, opts ...cluster.Option) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	opened, err := Open(ctx, append([]cluster.Option{cluster.WithProgress(os.Stderr)}, opts...)...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	*server = opened
	ran := make(chan int, 1)
	go func() { ran <- m.Run() }()
	code := 1
	select {
	case code = <-ran:
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr, "interrupted, cleaning up…")
	}
	if err := opened.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

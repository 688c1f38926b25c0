package cluster

import (
	"fmt"

	"github.com/kubetyped/informer/internal/test/pods"
)

// PodName returns the name of Pod number i, of application number app, in a cluster that New
// returns.
func PodName(app, i int) string { return pods.Name(app, i) }

// NamespaceName returns the name of namespace number n, counted from 0.
func NamespaceName(n int) string { return fmt.Sprintf("team-%02d", n) }

// NodeName returns the name of node number n, counted from 0.
func NodeName(n int) string { return pods.NodeName(n) }

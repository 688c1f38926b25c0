package manager

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubetyped/informer/e2e/cluster"
	"github.com/kubetyped/informer/e2e/proxy"
	"github.com/kubetyped/informer/e2e/workload"
)

var (
	pods   = flag.Int("pods", 200, "number of Pods")
	rounds = flag.Int("rounds", 1, "how often each program runs")
)

const (
	nodes      = 100
	annotation = "example.com/pods"
)

// cost is what a run has taken, until all Nodes were right.
type cost struct {
	heap, cpu, peak, requests, took float64
}

// TestExample: both programs write the number of Pods on each Node, become ready and end in
// good order; the second time with fresh Nodes.
func TestExample(t *testing.T) {
	if os.Getenv("E2E_KUBECONFIG") != "" {
		t.Skip("the example writes on all Nodes: it needs its own cluster")
	}
	server, err := cluster.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	network, err := proxy.Start(server.Config())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, network.Close()) })
	client, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	want := fill(t, client)
	program, kubeconfig := build(t), filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, writeKubeconfig(network.Config(), kubeconfig))
	costs := map[string][]cost{}
	for range *rounds {
		for _, side := range []string{"before", "after"} {
			clear := []byte(`{"metadata":{"annotations":{"` + annotation + `":null}}}`)
			for name := range want {
				_, err := client.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, clear, metav1.PatchOptions{})
				require.NoError(t, err)
			}
			requests := network.Requests("", "")
			p := startProcess(t, program, kubeconfig, fmt.Sprintf("-before=%t", side == "before"))
			await(t, client, want)
			took := time.Since(p.begin)
			require.Eventually(t, func() bool { return p.ready(t.Context()) }, time.Minute, 10*time.Millisecond)
			heap := p.heap(t)
			cpu, peak := p.end(t)
			costs[side] = append(costs[side], cost{heap / 1e6, cpu.Seconds(), float64(peak) / 1e6, float64(network.Requests("", "") - requests), took.Seconds()})
		}
	}
	for _, side := range []string{"before", "after"} {
		t.Logf("%-6s heap %.1f MB, CPU %.2f s, peak %.0f MB, %.0f requests, %.2f s until all Nodes are written", side,
			median(costs[side], func(c cost) float64 { return c.heap }), median(costs[side], func(c cost) float64 { return c.cpu }),
			median(costs[side], func(c cost) float64 { return c.peak }), median(costs[side], func(c cost) float64 { return c.requests }),
			median(costs[side], func(c cost) float64 { return c.took }))
	}
}

func median(costs []cost, of func(cost) float64) float64 {
	var values []float64
	for _, c := range costs {
		values = append(values, of(c))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// fill creates Nodes and Pods. It returns what is to be written on each Node.
func fill(t *testing.T, client kubernetes.Interface) (want map[string]string) {
	objects := workload.Objects{Namespaces: []string{"default"}, Nodes: nodes}
	crew := workload.Crew{Workers: 16, Out: t.Output()}
	require.NoError(t, workload.Create(t.Context(), crew, "Nodes", nodes, objects.Node, func(string) corev1client.NodeInterface { return client.CoreV1().Nodes() }))
	require.NoError(t, objects.CreatePods(t.Context(), crew, *pods, client.CoreV1().Pods))
	counts := map[string]int{}
	for i := range nodes {
		counts[objects.Node(i).Name] = 0
	}
	for i := range *pods {
		counts[objects.Pod(i).Spec.NodeName]++
	}
	want = map[string]string{}
	for name, n := range counts {
		want[name] = strconv.Itoa(n)
	}
	return want
}

// await waits until all Nodes are right.
func await(t *testing.T, client kubernetes.Interface, want map[string]string) {
	var last map[string]string
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		require.NoError(t, err)
		last = map[string]string{}
		for _, node := range list.Items {
			last[node.Name] = node.Annotations[annotation]
		}
		if assert.ObjectsAreEqual(want, last) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.Equal(t, want, last)
}

// build builds the example.
func build(t *testing.T) (program string) {
	root, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/kubetyped/informer/e2e").Output()
	require.NoError(t, err)
	program = filepath.Join(t.TempDir(), "manager")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./examples/manager")
	cmd.Dir = filepath.Join(filepath.Dir(strings.TrimSpace(string(root))), "adapters/ctrlruntime")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// writeKubeconfig writes a kubeconfig with the address and the token of a configuration.
func writeKubeconfig(from *rest.Config, path string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["e2e"] = &clientcmdapi.Cluster{Server: from.Host, CertificateAuthorityData: from.CAData}
	config.AuthInfos["e2e"] = &clientcmdapi.AuthInfo{Token: from.BearerToken}
	config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "e2e"}
	config.CurrentContext = "e2e"
	return clientcmd.WriteToFile(*config, path)
}

package manager

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubetyped/informer/e2e/cluster"
	"github.com/kubetyped/informer/e2e/proxy"
	"github.com/kubetyped/informer/e2e/target"
	"github.com/kubetyped/informer/e2e/workload"
	"github.com/kubetyped/informer/internal/test/report"
)

var (
	pods   = flag.Int("pods", 200, "number of Pods")
	rounds = flag.Int("rounds", 1, "how often each program runs")

	document = flag.String("report", "", "page to write the table into")
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
	program, kubeconfig := target.Build(t, "adapters/ctrlruntime", "./examples/manager"), target.WriteKubeconfig(t, network.Config())
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
			require.Eventually(t, func() bool { return p.ready(t.Context()) }, time.Minute, 10*time.Millisecond)
			took := time.Since(p.begin)
			heap := p.heap(t)
			cpu, peak := p.end(t)
			costs[side] = append(costs[side], cost{heap / 1e6, cpu.Seconds(), float64(peak) / 1e6, float64(network.Requests("", "") - requests), took.Seconds()})
		}
	}
	table := tableOf(costs)
	t.Log(table)
	if *document != "" {
		require.NoError(t, report.Replace(*document, "e2e/manager", table))
	}
}

// tableOf returns the medians.
func tableOf(costs map[string][]cost) string {
	table := fmt.Sprintf("Medians of %d rounds, in turns, with %d Pods on a real API server, %s.\n\n| | before | after | better |\n|---|--:|--:|--:|\n", *rounds, *pods, time.Now().Format(time.DateOnly))
	for _, row := range []struct {
		name string
		of   func(cost) float64
	}{
		{"heap, MB", func(c cost) float64 { return c.heap }},
		{"memory at the peak, MB", func(c cost) float64 { return c.peak }},
		{"CPU time, s", func(c cost) float64 { return c.cpu }},
		{"requests", func(c cost) float64 { return c.requests }},
		{"until ready, and all Nodes are written, s", func(c cost) float64 { return c.took }},
	} {
		before, after := median(costs["before"], row.of), median(costs["after"], row.of)
		table += fmt.Sprintf("| %s | %.4g | %.4g | %.3g× |\n", row.name, before, after, before/after)
	}
	return table
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

package ownwrites

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/e2e/proxy"
	"github.com/kubetyped/informer/e2e/target"
)

var (
	parents   = flag.Int("parents", 4, "number of parents")
	children  = flag.Int("children", 3, "number of Pods that each gets")
	lags      = flag.String("lags", "0s,20ms", "how much later events of watches come")
	ways      = flag.String("ways", "plain,blocking,skipping,live,ours", "how the controller reads")
	generates = flag.String("generate", "false,true", "whether the API server generates names")
)

// result is what the controller prints.
type result struct {
	Reconciles, Stale, Skipped, Made, Doubles int
	Took, Write, Next, Lag                    time.Duration
}

// server is what the controllers run on.
var server *target.Target

func TestMain(m *testing.M) { os.Exit(target.Main(m, &server)) }

// TestOwnWrites: with own writes no reconcile sees a state without them and there are no
// doubles, whatever the lag; nor with the ways that wait. Each parent gets its Pods with every
// way.
func TestOwnWrites(t *testing.T) {
	client, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	program := target.Build(t, "adapters/ctrlruntime", "./internal/staleness")
	table := []string{"| lag | names | way | stale reconciles | doubles | write | to the next useful reconcile | requests | s |", "|--:|---|---|--:|--:|--:|--:|--:|--:|"}
	for _, text := range strings.Split(*lags, ",") {
		lag, err := time.ParseDuration(text)
		require.NoError(t, err)
		network, err := proxy.Start(server.Config(), proxy.WithWatchLag(lag))
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, network.Close()) })
		kubeconfig := target.WriteKubeconfig(t, network.Config())
		measured := lag
		for _, generate := range strings.Split(*generates, ",") {
			for _, way := range strings.Split(*ways, ",") {
				namespace := prepare(t, client)
				requests := network.Requests("", "")
				r := run(t, program, "-kubeconfig="+kubeconfig, "-namespace="+namespace, "-way="+way, "-generate="+generate)
				requests = network.Requests("", "") - requests
				check(t, client, namespace, way, r)
				if way == "plain" && generate == "false" { // each Pod's event comes before the next is made
					measured = r.Lag
				}
				table = append(table, fmt.Sprintf("| %v | %s | %s | %d | %d | %v | %v | %d | %.1f |", measured.Round(100*time.Microsecond),
					map[string]string{"false": "computed", "true": "generated"}[generate], way, r.Stale, r.Doubles,
					r.Write.Round(100*time.Microsecond), r.Next.Round(10*time.Microsecond), requests, r.Took.Seconds()))
			}
		}
	}
	t.Logf("%d parents with %d Pods, 16 workers\n%s", *parents, *children, strings.Join(table, "\n"))
}

// check compares what a controller says with what the server has.
func check(t *testing.T, client kubernetes.Interface, namespace, way string, r result) {
	list, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, r.Made, way)
	assert.Equal(t, *parents**children+r.Doubles, r.Made, way)
	if way != "plain" {
		assert.Zero(t, r.Stale, "%s: reconciles that did not see own writes", way)
		assert.Zero(t, r.Doubles, way)
	}
}

// prepare makes a namespace with parents, and returns its name.
func prepare(t *testing.T, client kubernetes.Interface) string {
	namespace := server.Namespace(t)
	for i := range *parents {
		parent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("parent-%d", i), Labels: map[string]string{"parent": "true"}}}
		_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), parent, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	return namespace
}

// run runs the controller until all is done.
func run(t *testing.T, program string, args ...string) (r result) {
	args = append(args, fmt.Sprintf("-parents=%d", *parents), fmt.Sprintf("-children=%d", *children))
	cmd := exec.CommandContext(t.Context(), program, args...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	require.NoError(t, err, "%s: %s", args, &errors)
	require.NoError(t, json.Unmarshal(out, &r))
	return r
}

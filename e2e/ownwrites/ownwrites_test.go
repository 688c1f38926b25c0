package ownwrites

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
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
	"github.com/kubetyped/informer/internal/test/report"
)

var (
	parents  = flag.Int("parents", 4, "number of parents")
	children = flag.Int("children", 3, "number of Pods that each gets")
	lags     = flag.String("lags", "0s,20ms", "how much later events of watches come; with other numbers of Pods, parents and rounds, as 1s:5:100:1")
	rounds   = flag.Int("rounds", 1, "how often each is measured, in turns")
	document = flag.String("report", "", "page to write the table into")
)

// ways are how the controller reads.
var ways = []string{"plain", "blocking", "skipping", "live", "ours"}

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
	table := fmt.Sprintf(`16 workers, %s. Medians of rounds in turns, of their medians and, for computed names, their sums; no parent gets more than ten times its Pods.

| lag, parents × Pods, rounds | | cache | blocking client | skipping (KEP-5647) | live reads | own writes |
|--:|---|--:|--:|--:|--:|--:|
`, time.Now().Format(time.DateOnly))
	for _, text := range strings.Split(*lags, ",") {
		table += parse(t, text).measure(t, client, program)
	}
	t.Log(table)
	if *document != "" {
		require.NoError(t, report.Replace(*document, "e2e/ownwrites", table))
	}
}

// cell is how much is measured with a lag.
type cell struct {
	lag                       time.Duration
	children, parents, rounds int
}

// parse returns the cell of a text of the flag lags.
func parse(t *testing.T, text string) cell {
	parts := strings.Split(text, ":")
	lag, err := time.ParseDuration(parts[0])
	require.NoError(t, err, text)
	c := cell{lag, *children, *parents, *rounds}
	numbers := []*int{&c.children, &c.parents, &c.rounds}
	require.LessOrEqual(t, len(parts)-1, len(numbers), text)
	for i, part := range parts[1:] {
		*numbers[i], err = strconv.Atoi(part)
		require.NoError(t, err, text)
		require.Positive(t, *numbers[i], text)
	}
	return c
}

// measure runs the controller in all ways, with computed and with generated names. It returns
// the rows of the table.
func (c cell) measure(t *testing.T, client kubernetes.Interface, program string) (rows string) {
	network, err := proxy.Start(server.Config(), proxy.WithWatchLag(c.lag))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, network.Close()) })
	kubeconfig := target.WriteKubeconfig(t, network.Config())
	took := map[string][]round{}
	for n := range c.rounds {
		for i := range ways {
			way := ways[(i+n)%len(ways)] // in turns
			took[way] = append(took[way], c.measureOnce(t, client, network, program, kubeconfig, way))
		}
	}
	lag := c.lag
	var write, next, stale, doubles, requests []string
	for _, way := range ways {
		all := took[way]
		if way == "plain" {
			lag = median(all, func(r round) time.Duration { return r.computed.Lag }) // each Pod's event comes before the next is made
		}
		write = append(write, rounded(median(all, func(r round) time.Duration { return r.computed.Write })))
		next = append(next, rounded(median(all, func(r round) time.Duration { return r.computed.Next })))
		stale = append(stale, fmt.Sprint(median(all, func(r round) int { return r.computed.Stale })))
		doubles = append(doubles, fmt.Sprint(median(all, func(r round) int { return r.generated.Doubles })))
		requests = append(requests, fmt.Sprint(median(all, func(r round) int { return r.requests })))
	}
	row := func(first, name string, cells []string) {
		rows += fmt.Sprintf("| %s | %s | %s |\n", first, name, strings.Join(cells, " | "))
	}
	row(fmt.Sprintf("%s, %d × %d, %d", rounded(lag), c.parents, c.children, c.rounds), "write", write)
	row("", "to the next useful reconcile", next)
	row("", "stale reconciles", stale)
	row("", "doubles with `generateName`", doubles)
	row("", "requests", requests)
	return rows
}

// round is what a controller has come to with one way to read.
type round struct {
	computed, generated result
	requests            int // for computed names
}

// measureOnce runs the controller in one way, with computed and with generated names.
func (c cell) measureOnce(t *testing.T, client kubernetes.Interface, network *proxy.Proxy, program, kubeconfig, way string) (r round) {
	for _, generate := range []bool{false, true} {
		namespace, before := c.prepare(t, client), network.Requests("", "")
		one := run(t, program, "-kubeconfig="+kubeconfig, "-namespace="+namespace, "-way="+way,
			fmt.Sprintf("-generate=%t", generate), fmt.Sprintf("-children=%d", c.children), fmt.Sprintf("-parents=%d", c.parents))
		if generate {
			r.generated = one
		} else {
			r.computed, r.requests = one, network.Requests("", "")-before
		}
		c.check(t, client, namespace, way, one)
	}
	return r
}

// median returns the median of something of all rounds.
func median[T cmp.Ordered](all []round, of func(round) T) T {
	values := make([]T, 0, len(all))
	for _, r := range all {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// rounded writes a duration with three digits at most.
func rounded(d time.Duration) string {
	if d > 100*time.Millisecond {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}

// check compares what a controller says with what the server has.
func (c cell) check(t *testing.T, client kubernetes.Interface, namespace, way string, r result) {
	list, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, r.Made, way)
	assert.Equal(t, c.parents*c.children+r.Doubles, r.Made, way)
	if way != "plain" {
		assert.Zero(t, r.Stale, "%s: reconciles that did not see own writes", way)
		assert.Zero(t, r.Doubles, way)
	}
}

// prepare makes a namespace with parents, and returns its name.
func (c cell) prepare(t *testing.T, client kubernetes.Interface) string {
	namespace := server.Namespace(t)
	for i := range c.parents {
		parent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("parent-%d", i), Labels: map[string]string{"parent": "true"}}}
		_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), parent, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	return namespace
}

// run runs the controller until all is done.
func run(t *testing.T, program string, args ...string) (r result) {
	cmd := exec.CommandContext(t.Context(), program, args...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	require.NoError(t, err, "%s: %s", args, &errors)
	require.NoError(t, json.Unmarshal(out, &r))
	return r
}

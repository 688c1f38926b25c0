package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/e2e/cluster"
	"github.com/kubetyped/informer/internal/test/report"
)

// TestMain makes the test binary play a side, as the program does, where it is
// started by itself to measure one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-side" {
		main()
		return
	}
	os.Exit(m.Run())
}

// lines is a writer that calls a function when a text has been written.
type lines struct {
	bytes.Buffer
	text string
	then func()
}

func (l *lines) Write(p []byte) (int, error) {
	n, err := l.Buffer.Write(p)
	if l.text != "" && strings.Contains(l.String(), l.text) {
		l.text = ""
		l.then()
	}
	return n, err
}

// noServersLeft fails the test if what the cluster keeps is not gone.
func noServersLeft(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Cleanup(func() {
		left, err := os.ReadDir(temp)
		require.NoError(t, err)
		assert.Empty(t, left)
	})
}

func TestAllSidesSeeEverythingAndTheTableHasIt(t *testing.T) {
	defer goleak.VerifyNone(t)
	noServersLeft(t)
	document, profiles := filepath.Join(t.TempDir(), "performance.md"), filepath.Join(t.TempDir(), "not", "there")
	require.NoError(t, os.WriteFile(document, []byte("# Title\n<!-- made by e2e/scale -->\nold\n<!-- end -->\nlast\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(filepath.Dir(document), "performance"), 0o700))
	args := []string{"-pods=50", "-others=9", "-namespaces=3", "-nodes=4", "-events=120", "-rounds=2", "-out=" + document, "-profiles=" + profiles}
	var out bytes.Buffer

	require.NoError(t, run(t.Context(), args, nil, &out), out.String())

	content, err := os.ReadFile(document)
	require.NoError(t, err)
	assert.NotContains(t, string(content), "old")
	assert.Contains(t, string(content), "last")
	assert.Contains(t, string(content), "go run ./scale -events 120 -namespaces 3 -nodes 4 -others 9 -out "+document+" -pods 50 -rounds 2\n")
	assert.Regexp(t, `50 Pods and 9 each of ConfigMaps, Secrets, Services and EndpointSlices; 120 updates`, string(content))
	assert.Regexp(t, `Go 1\.\d+.*, client-go v0\.\d+\.\d+, GOMAXPROCS \d+`, string(content))
	for _, f := range figures {
		assert.Regexp(t, f.name+` +[0-9.]+ \([0-9.]+ to [0-9.]+\)(?: +[0-9.]+ \([0-9.]+ to [0-9.]+\): [0-9.]+×){4}`, out.String())
		assert.Contains(t, string(content), "| "+f.name+" | ")
	}
	drawn, err := report.LoadProcesses(filepath.Join(filepath.Dir(document), "performance", "processes.json"))
	require.NoError(t, err)
	require.Len(t, drawn.Needs, 4)
	assert.Len(t, drawn.Needs[0].Sides, 5)
	for side := range sides {
		for _, profile := range []string{"sync", "events", "heap"} {
			assert.FileExists(t, filepath.Join(profiles, side+"."+profile+".pprof"))
		}
	}
}

func TestClusterThatExistsIsLeftAsItWas(t *testing.T) {
	c, err := cluster.Start(t.Context())
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Stop()) }()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, c.WriteKubeconfig(kubeconfig))
	t.Setenv("E2E_KUBECONFIG", kubeconfig)
	var out bytes.Buffer

	require.NoError(t, run(t.Context(), []string{"-pods=20", "-others=2", "-namespaces=2", "-events=20", "-rounds=1"}, nil, &out), out.String())

	client := kubernetes.NewForConfigOrDie(c.Config())
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, nodes.Items)
	pods, err := client.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, pods.Items, 20, "no controller runs on this cluster that would remove what is in a namespace")
	for _, pod := range pods.Items {
		namespace, err := client.CoreV1().Namespaces().Get(t.Context(), pod.Namespace, metav1.GetOptions{})
		require.NoError(t, err)
		assert.NotNil(t, namespace.DeletionTimestamp)
		assert.NotEmpty(t, pod.Spec.SchedulingGates)
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	for _, text := range []string{"ready after", "of 100000 Pods"} {
		t.Run(text, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			noServersLeft(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := &lines{text: text, then: cancel}

			err := run(ctx, []string{"-pods=50", "-others=1", "-namespaces=1", "-nodes=1", "-events=100000"}, nil, out)

			require.ErrorIs(t, err, context.Canceled, out.String())
			assert.NotContains(t, out.String(), "client-go: syncing")
		})
	}
}

func TestRunRefusesBadFlags(t *testing.T) {
	for arg, want := range map[string]string{
		"-pods=0": "must be positive", "-others=0": "must be positive", "-namespaces=0": "must be positive", "-nodes=-1": "must be positive",
		"-events=0": "must be positive", "-rounds=0": "must be positive", "-workers=0": "must be positive",
		"-side=other": "adapters, client-go, fields, import, typed", "-ours=typed,other": "each once", "-ours=typed,typed": "each once", "now": `no argument "now"`, "-out=/no/such/file": "no such file",
		"-profiles=/dev/null/folder": "make the folder for -profiles",
	} {
		assert.ErrorContains(t, run(t.Context(), []string{arg}, nil, t.Output()), want, arg)
	}
}

func TestFolderForProfilesIsMadeAtTheStart(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "not", "there")
	p, err := parse([]string{"-profiles=" + folder})
	require.NoError(t, err)
	require.NoError(t, p.prepare())
	assert.DirExists(t, folder)
	require.NoError(t, p.prepare(), "and left alone if it is there")
}

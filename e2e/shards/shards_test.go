package shards

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/e2e/cluster"
	"github.com/kubetyped/informer/e2e/proxy"
	"github.com/kubetyped/informer/e2e/target"
	"github.com/kubetyped/informer/e2e/workload"
	"github.com/kubetyped/informer/index"
)

var (
	podCount = flag.Int("pods", 600, "how many Pods there are")
	rate     = flag.Int("rate", 100, "how many updates of Pods a second")
)

func TestMain(m *testing.M) {
	if os.Getenv(identityVariable) != "" {
		if err := replicate(); err != nil {
			fmt.Fprintln(os.Stderr, "replica:", err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

// scene is a server with Pods, and the processes that share them.
type scene struct {
	t          *testing.T
	client     kubernetes.Interface
	objects    workload.Objects
	kubeconfig string       // of the server
	far        string       // of the network
	network    *proxy.Proxy // of those processes whose identity begins with "far"
	journal    *journal
	processes  []*process
}

func newScene(t *testing.T) *scene {
	server, err := cluster.Start(t.Context(), cluster.WithProgress(t.Output()),
		cluster.WithAPIServerFlags("--feature-gates=ShardedListAndWatch=true"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	client, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	s := &scene{
		t: t, client: client, kubeconfig: t.TempDir() + "/kubeconfig",
		objects: workload.Objects{Namespaces: []string{metav1.NamespaceDefault}, Nodes: 20},
	}
	require.NoError(t, server.WriteKubeconfig(s.kubeconfig))
	s.network, err = proxy.Start(server.Config())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.network.Close()) })
	s.far = target.WriteKubeconfig(t, s.network.Config())
	s.journal, err = openJournal(t.TempDir()+"/journal", "test")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.journal.Close()) })
	crew := workload.Crew{Workers: 16, Out: t.Output()}
	require.NoError(t, s.objects.CreatePods(t.Context(), crew, *podCount, client.CoreV1().Pods))
	return s
}

// start starts processes.
func (s *scene) start(identities ...string) {
	for _, identity := range identities {
		kubeconfig := s.kubeconfig
		if strings.HasPrefix(identity, "far") {
			kubeconfig = s.far
		}
		s.processes = append(s.processes, startProcess(s.t, identity, kubeconfig, s.journal))
	}
}

// process returns a process by its identity.
func (s *scene) process(identity string) *process {
	for _, p := range s.processes {
		if p.identity == identity {
			return p
		}
	}
	s.t.Fatalf("there is no process %s", identity)
	return nil
}

// settle waits until some processes have all ranges and all Pods, and equal shares, which
// the server selects, and logs how long that took.
func (s *scene) settle(after string, identities ...string) {
	s.t.Helper()
	begin := time.Now()
	words := ""
	defer func() { s.t.Logf("%-40s %5.1f s  %s", after, time.Since(begin).Seconds(), words) }()
	require.Eventually(s.t, func() bool {
		ranges, objects := 0, 0
		fair, served := true, true
		words = ""
		for _, identity := range identities {
			now := s.process(identity).state()
			ranges += now.Ranges
			objects += now.Objects
			fair = fair && now.Ranges >= 256/len(identities)
			served = served && now.Server
			words += fmt.Sprintf(" %s: %d Pods, %.0f MB, %.1f s CPU;", identity, now.Objects, float64(now.Heap)/1e6, now.CPU.Seconds())
		}
		return ranges == 256 && objects == *podCount && fair && served
	}, 2*time.Minute, 20*time.Millisecond, "after %s", after)
	for _, identity := range identities {
		n, share := float64(*podCount), 1/float64(len(identities))
		most := n*share + max(n*0.05, 6*math.Sqrt(n*share*(1-share))) // few UIDs spread by chance
		assert.LessOrEqual(s.t, float64(s.process(identity).state().Objects), most, identity)
	}
}

// update updates Pods, several at a time but none of them twice at a time, until stop is
// called, and logs how many a second that were.
func (s *scene) update() (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	const updaters = 8
	begin := time.Now()
	var done atomic.Int64
	group := errgroup.Group{}
	for first := range updaters {
		group.Go(func() error {
			tick := time.NewTicker(updaters * time.Second / time.Duration(*rate))
			defer tick.Stop()
			for version := 2; ; version++ {
				for n := first; n < *podCount; n += updaters {
					select {
					case <-ctx.Done():
						return nil
					case <-tick.C:
					}
					if _, err := s.objects.UpdatePod(context.WithoutCancel(ctx), n, version, s.client.CoreV1().Pods); err != nil {
						return err
					}
					done.Add(1)
				}
			}
		})
	}
	return sync.OnceFunc(func() {
		cancel()
		assert.NoError(s.t, group.Wait())
		s.t.Logf("%d updates, %.0f a second", done.Load(), float64(done.Load())/time.Since(begin).Seconds())
	})
}

// judge waits until the journal has the last version of each Pod, and looks for errors.
func (s *scene) judge() {
	list, err := s.client.CoreV1().Pods(metav1.NamespaceDefault).List(s.t.Context(), metav1.ListOptions{})
	require.NoError(s.t, err)
	var found *findings
	missing := func() (keys []string) {
		found, err = read(s.journal.Name())
		require.NoError(s.t, err)
		for i := range list.Items {
			key := index.KeyOf(&list.Items[i]).String()
			if found.written[key] != list.Items[i].ResourceVersion {
				keys = append(keys, key)
			}
		}
		return keys
	}
	for end := time.Now().Add(time.Minute); len(missing()) > 0 && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	lost := missing()
	assert.Empty(s.t, lost[:min(len(lost), 10)], "Pods whose last version nobody has worked on")
	assert.Empty(s.t, strings.Join(found.errors[:min(len(found.errors), 10)], "\n"))
	s.t.Logf("%d calls; %d writes refused by their generation", found.calls, found.refused)
}

// TestShards: whatever happens to processes, all Pods have one who works on them, and no
// two at a time.
func TestShards(t *testing.T) {
	s := newScene(t)
	s.start("a", "b", "far-c")
	s.settle("the start of three", "a", "b", "far-c")
	stop := s.update()
	defer stop()

	s.process("a").kill()
	s.settle("a is killed", "b", "far-c")
	s.start("d", "e")
	s.settle("two join at once", "b", "far-c", "d", "e")
	s.process("b").stop()
	s.settle("b stands still", "far-c", "d", "e")
	s.process("b").goOn()
	s.settle("b goes on", "b", "far-c", "d", "e")
	resume := s.network.Blackhole()
	s.settle("one is cut off from the server", "b", "d", "e")
	resume()
	s.settle("it is back", "b", "far-c", "d", "e")
	for i, identity := range []string{"b", "far-c", "d", "e"} {
		s.process(identity).end()
		s.start(fmt.Sprint("new-", i))
	}
	s.settle("a rolling restart", "new-0", "new-1", "new-2", "new-3")
	s.process("new-3").end()
	s.settle("one leaves", "new-0", "new-1", "new-2")
	stop()
	s.judge()
	for _, identity := range []string{"new-0", "new-1", "new-2"} {
		s.process(identity).end()
	}
}

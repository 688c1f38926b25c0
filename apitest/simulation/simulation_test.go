//go:debug randseednop=0
package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// beat creates a Pod every ten seconds, with a list before it.
func beat(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for n := 0; ctx.Err() == nil; n++ {
		_, _ = client.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		_, _ = client.CoreV1().Pods("shop").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "beat-"}}, metav1.CreateOptions{})
		_, _ = client.CoreV1().Pods("shop").Update(ctx, pod("one", n), metav1.UpdateOptions{})
		select {
		case <-time.After(10 * time.Second):
		case <-ctx.Done():
		}
	}
	return nil
}

// TestSameSeedSameTrace: a seed has one trace, and seeds differ.
func TestSameSeedSameTrace(t *testing.T) {
	others := map[string]bool{}
	for seed := range uint64(4) {
		first, failed := simulation.Trace(t, defineInformer, seed+1)
		require.Nil(t, failed)
		again, _ := simulation.Trace(t, defineInformer, seed+1)
		assert.Equal(t, first, again)
		others[strings.Join(first, "\n")] = true
	}
	assert.Len(t, others, 4)
}

// TestKinds: each kind of fault leaves what it does in the trace.
func TestKinds(t *testing.T) {
	for kind, want := range map[simulation.Kind]string{
		simulation.Crash:            "beat#2            starts",
		simulation.CrashBeforeWrite: "pods in shop, before it",
		simulation.CrashAfterWrite:  "pods in shop, after it",
		simulation.LostAnswer:       "does not get the answer to create pods in shop",
		simulation.Refused:          "pods in shop is refused: 5",
		simulation.Conflicts:        "update pods shop/one is refused: 409",
		simulation.LateWrite:        "LateWrite of beat",
		simulation.Freeze:           "Freeze of beat for",
		simulation.Slow:             "Slow of beat for",
		simulation.Moved:            "Moved of beat to server 2",
		simulation.Held:             "Held of beat",
		simulation.Lag:              "Lag of server 1",
		simulation.Compacted:        "Compacted",
		simulation.Travel:           "crashes and starts with a server that lags",
		simulation.Cut:              "Cut of beat",
		simulation.Expired:          "Expired of beat",
	} {
		trace, failed := simulation.Trace(t, func(s *simulation.Simulation) {
			s.Start("beat", beat)
			s.Faults(kind)
		}, 1)
		require.Nil(t, failed, "%v", kind)
		all := strings.Join(trace, "\n")
		assert.Contains(t, all, want, "%v", kind)
		assert.GreaterOrEqual(t, strings.Count(all, ": "+kind.String()+" "), 20, "%v", kind)
	}
	assert.Len(t, simulation.Kinds(), 16)
	assert.Len(t, simulation.AllBut(simulation.Crash, simulation.Lag), 14)
	assert.Equal(t, "Kind(99)", simulation.Kind(99).String())
}

// TestNothingGoesWrong: without faults there are none, and all requests arrive.
func TestNothingGoesWrong(t *testing.T) {
	trace, failed := simulation.Trace(t, func(s *simulation.Simulation) {
		s.Start("beat", beat)
		s.Faults()
		s.Lasts(time.Minute)
		s.Do(writePods)
	}, 1)
	require.Nil(t, failed)
	all := strings.Join(trace, "\n")
	assert.NotContains(t, all, "fault ")
	assert.NotContains(t, all, "refused")
	assert.GreaterOrEqual(t, strings.Count(all, "create pods in shop → 201"), 6)
}

// TestNothingAfterACrash: after a crash, no new request of that life reaches a server, and the
// answers to earlier ones are lost.
func TestNothingAfterACrash(t *testing.T) {
	for seed := range uint64(5) {
		trace, failed := simulation.Trace(t, func(s *simulation.Simulation) {
			s.Start("beat", beat)
			s.Faults(simulation.Crash)
		}, seed+1)
		require.Nil(t, failed)
		ended := map[string]int{}
		for _, line := range trace {
			life := strings.Fields(line)[1]
			if strings.Contains(line, "crashes") {
				ended[life] = 0
			} else if _, dead := ended[life]; dead {
				ended[life]++
				assert.LessOrEqual(t, ended[life], 1, "one request at a time is on its way: %s", line)
			}
		}
		assert.NotEmpty(t, ended)
	}
}

// TestFailuresOfRequire: a check, an act or a process that ends its goroutine fails like any other.
func TestFailuresOfRequire(t *testing.T) {
	for check, define := range map[string]func(*simulation.Simulation){
		"never so": func(s *simulation.Simulation) {
			s.Start("beat", beat)
			s.Always("never so", func(now simulation.State) error {
				if now.Elapsed() > time.Minute {
					new(testing.T).FailNow()
				}
				return nil
			})
		},
		"in the end": func(s *simulation.Simulation) {
			s.Eventually("in the end", time.Minute, func(simulation.State) error { runtime.Goexit(); return nil })
		},
		"what users do": func(s *simulation.Simulation) {
			s.Do(func(context.Context, kubernetes.Interface, *rand.Rand) error { runtime.Goexit(); return nil })
		},
		"process beat": func(s *simulation.Simulation) {
			s.Start("beat", func(context.Context, *rest.Config) error { runtime.Goexit(); return nil })
		},
	} {
		failed := simulation.Find(t, 1, define)
		if assert.NotNil(t, failed, check) {
			assert.Equal(t, check, failed.Check)
			assert.ErrorContains(t, failed, "function ended its goroutine, as require")
			assert.Equal(t, uint64(1), failed.Seed)
		}
	}
}

// TestFailures: a failure names the check that does not hold.
func TestFailures(t *testing.T) {
	broken := errors.New("broken")
	for check, define := range map[string]func(*simulation.Simulation){
		"never so": func(s *simulation.Simulation) {
			s.Start("beat", beat)
			s.Always("never so", func(simulation.State) error { return broken })
		},
		"in the end": func(s *simulation.Simulation) {
			s.Eventually("in the end", time.Hour, func(now simulation.State) error {
				if now.Elapsed() < 70*time.Minute {
					return errors.New("not yet")
				}
				return broken
			})
		},
		"panics": func(s *simulation.Simulation) {
			s.Eventually("panics", time.Minute, func(simulation.State) error { panic(broken) })
		},
		"of a life (beat#1)": func(s *simulation.Simulation) {
			s.Start("beat", func(ctx context.Context, config *rest.Config) error {
				simulation.Always(ctx, "of a life", func(simulation.State) error { return broken })
				return beat(ctx, config)
			})
		},
		"what users do": func(s *simulation.Simulation) {
			s.Do(func(context.Context, kubernetes.Interface, *rand.Rand) error { return broken })
		},
		"process mad": func(s *simulation.Simulation) {
			s.Start("mad", func(context.Context, *rest.Config) error { panic(broken) })
		},
	} {
		failed := simulation.Find(t, 1, define)
		if assert.NotNil(t, failed, check) {
			assert.Equal(t, check, failed.Check)
			assert.ErrorContains(t, failed, "broken")
			assert.Equal(t, uint64(1), failed.Seed)
		}
	}
	assert.Nil(t, simulation.Find(t, 2, func(s *simulation.Simulation) {
		s.Eventually("at last", 2*time.Hour, func(now simulation.State) error {
			if now.Elapsed() < time.Hour {
				return broken
			}
			return nil
		})
	}))
}

// TestChecksWhenEventsArrive: what an event has changed in a process is looked at when it
// arrives there, and not when something else happens.
func TestChecksWhenEventsArrive(t *testing.T) {
	var created time.Duration
	define := func(s *simulation.Simulation) {
		created = 0
		s.Faults()
		s.Start("informer", func(ctx context.Context, config *rest.Config) error {
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			informer := typed.NewInformer(kube.FromClient(client.CoreV1().Pods("")))
			simulation.Always(ctx, "no Pod", func(now simulation.State) error {
				if len(now.Writes()) > 0 && created == 0 {
					created = now.Elapsed()
				}
				if informer.Len() > 0 {
					return errors.New("there is one")
				}
				return nil
			})
			return informer.Run(ctx)
		})
		s.Do(func(ctx context.Context, client kubernetes.Interface, _ *rand.Rand) error {
			if created > 0 {
				return nil
			}
			_, err := client.CoreV1().Pods("shop").Create(ctx, pod("one", 1), metav1.CreateOptions{})
			return err
		})
	}
	for seed := range uint64(8) {
		_, failed := simulation.Trace(t, define, seed)
		require.NotNil(t, failed)
		assert.Less(t, failed.After-created, 100*time.Millisecond, "what it travels at most with these seeds")
		assert.Greater(t, failed.After, created)
	}
}

// TestRestart: run is called again when it has returned by itself, ten seconds later.
func TestRestart(t *testing.T) {
	trace, failed := simulation.Trace(t, func(s *simulation.Simulation) {
		s.Start("weak", func(ctx context.Context, _ *rest.Config) error {
			select {
			case <-time.After(time.Minute):
				return errors.New("tired")
			case <-ctx.Done():
				return nil
			}
		})
		s.Faults()
	}, 1)
	require.Nil(t, failed)
	assert.Contains(t, trace[1], "00:01:00.000000  weak#1            has ended by itself: tired")
	assert.Contains(t, trace[2], "00:01:10.000000  weak#2            starts")
}

// TestRenewals: the renewals of a Lease are one line of the trace, until another process writes it.
func TestRenewals(t *testing.T) {
	renew := func(from, to time.Duration) func(context.Context, *rest.Config) error {
		return func(ctx context.Context, config *rest.Config) error {
			client, err := coordinationv1client.NewForConfig(config)
			if err != nil {
				return err
			}
			leases := client.Leases("shop")
			_, _ = leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "lead"}}, metav1.CreateOptions{})
			for start := time.Now(); ctx.Err() == nil; {
				lease, err := leases.Get(ctx, "lead", metav1.GetOptions{})
				if at := time.Since(start); err == nil && from <= at && at < to {
					_, _ = leases.Update(ctx, lease, metav1.UpdateOptions{})
				}
				select {
				case <-time.After(10 * time.Second):
				case <-ctx.Done():
				}
			}
			return nil
		}
	}
	trace, failed := simulation.Trace(t, func(s *simulation.Simulation) {
		s.Start("one", renew(0, 5*time.Minute))
		s.Start("two", renew(5*time.Minute, time.Hour))
		s.Faults()
		s.Lasts(10 * time.Minute)
	}, 1)
	require.Nil(t, failed)
	all := strings.Join(trace, "\n")
	assert.Less(t, len(trace), 30, all)
	assert.Regexp(t, `one#1 +update leases.coordination.k8s.io shop/lead → 200, lead at version \d+, and 29 times more until 00:04:5`, all)
	assert.Regexp(t, `two#1 +update leases.coordination.k8s.io shop/lead → 200, lead at version \d+, and \d\d times more until 00:1`, all)
	assert.Equal(t, 2, strings.Count(all, "lead → 201")+strings.Count(all, "lead → 409")+strings.Count(all, "in shop → 201")+strings.Count(all, "in shop → 409"), all)
}

// TestShrink: only what it takes to fail is left.
func TestShrink(t *testing.T) {
	define := func(s *simulation.Simulation) {
		s.Start("beat", beat)
		s.Do(writePods)
	}
	faults, acts := simulation.Shrink(define, 1, []int{3, 11}, []int{2})
	assert.ElementsMatch(t, []int{3, 11}, faults)
	assert.Equal(t, []int{2}, acts)
	faults, acts = simulation.Shrink(define, 1, nil, nil)
	assert.Empty(t, faults)
	assert.Empty(t, acts)
}

// TestWrites: checks see who has written what.
func TestWrites(t *testing.T) {
	var seen []simulation.Write
	var version string
	assert.Nil(t, simulation.Find(t, 1, func(s *simulation.Simulation) {
		s.Start("beat-1", beat)
		s.Faults()
		s.Lasts(time.Minute)
		s.Always("look", func(now simulation.State) error {
			seen, version = now.Writes(), now.ResourceVersion()
			return nil
		})
	}))
	require.GreaterOrEqual(t, len(seen), 12)
	first := seen[0]
	assert.Less(t, first.At, 5*time.Second)
	first.At = 0
	assert.Equal(t, simulation.Write{Process: "beat-1", Verb: "create", Resource: "pods", Namespace: "shop", Code: 201}, first)
	assert.Equal(t, "one", seen[1].Name)
	assert.Equal(t, 404, seen[1].Code)
	assert.NotEmpty(t, version)
}

// TestTargets: requests are called as API servers understand them.
func TestTargets(t *testing.T) {
	for url, want := range map[string]string{
		"GET /api/v1/pods":                                "list pods",
		"GET /api/v1/pods?watch=true":                     "watch pods",
		"GET /api/v1/namespaces/shop/pods/web-0":          "get pods shop/web-0",
		"PUT /api/v1/namespaces/shop/pods/web-0/status":   "update pods shop/web-0/status",
		"POST /apis/apps/v1/namespaces/shop/deployments":  "create deployments.apps in shop",
		"DELETE /apis/apps/v1/namespaces/shop/daemonsets": "deletecollection daemonsets.apps in shop",
		"GET /api/v1/namespaces/shop":                     "get namespaces shop",
		"PUT /api/v1/namespaces/shop/finalize":            "update namespaces shop/finalize",
		"PATCH /api/v1/namespaces/shop/status":            "patch namespaces shop/status",
		"DELETE /api/v1/nodes/n1":                         "delete nodes n1",
		"GET /version":                                    "get /version",
		"POST /version":                                   "post /version",
	} {
		method, address, _ := strings.Cut(url, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, "http://server"+address, nil)
		require.NoError(t, err)
		got, writes := simulation.Target(r)
		assert.Equal(t, want, got)
		assert.Equal(t, method != http.MethodGet && strings.HasPrefix(address, "/api"), writes, url)
	}
}

// TestAgain: the seed of a flag runs alone, with its trace, even if it is 0, and even in a fuzz
// target.
func TestAgain(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	for _, test := range []string{"TestInformer", "FuzzInformer"} {
		said, err := exec.CommandContext(t.Context(), program, "-test.v", "-test.run=^"+test+"$", "-simulation.seed=0", "-simulation.faults=none", "-simulation.acts=none").CombinedOutput()
		require.NoError(t, err, string(said))
		assert.Contains(t, string(said), "informer#1        starts, with server 1", test)
		assert.NotContains(t, string(said), "fault ")
		assert.NotContains(t, string(said), "seeds in")
	}
}

// TestRandom: a process has numbers that follow from the seed.
func TestRandom(t *testing.T) {
	draw := func() (drawn []uint64) {
		require.Nil(t, simulation.Find(t, 2, func(s *simulation.Simulation) {
			s.Start("one", func(ctx context.Context, _ *rest.Config) error {
				drawn = append(drawn, simulation.Random(ctx).Uint64())
				<-ctx.Done()
				return nil
			})
			s.Faults()
		}))
		return drawn
	}
	first := draw()
	assert.Equal(t, first, draw())
	assert.NotEqual(t, first[0], first[1])
	assert.NotEqual(t, simulation.Random(t.Context()).Uint64(), simulation.Random(t.Context()).Uint64())
}

// rules are simulations that break the rules, for TestRules.
var rules = map[string]struct {
	define func(*simulation.Simulation)
	told   string
}{
	"leftover": {func(s *simulation.Simulation) {
		s.Start("careless", func(ctx context.Context, _ *rest.Config) error {
			go func() { select {} }()
			<-ctx.Done()
			return nil
		})
	}, "goroutines are left: run must wait"},
	"outside": {func(s *simulation.Simulation) {
		s.Start("stuck", func(context.Context, *rest.Config) error {
			var mu sync.Mutex
			mu.Lock()
			mu.Lock()
			return nil
		})
	}, "The clock of a simulation stands still"},
	"deaf": {func(s *simulation.Simulation) {
		s.Start("deaf", func(context.Context, *rest.Config) error { select {} })
	}, "it has not returned 1h0m0s after its context ended"},
	"fails": {func(s *simulation.Simulation) {
		s.Start("beat", beat)
		s.Do(writePods)
		s.Always("few Pods", func(now simulation.State) error {
			if n := len(simulation.Objects[*corev1.Pod](now)); n > 20 {
				return fmt.Errorf("there are %d", n)
			}
			return nil
		})
	}, "-simulation.faults=none -simulation.acts=none"},
}

// TestRules runs simulations that end the program in another process, and reads its output.
func TestRules(t *testing.T) {
	if name := os.Getenv("SIMULATION_RULE"); name != "" {
		simulation.Run(t, rules[name].define)
		return
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := os.Executable()
			require.NoError(t, err)
			args := []string{"-test.run=^TestRules$", "-simulation.seeds=1"}
			if name == "outside" {
				args = append(args, "-simulation.stuck=500ms") // others may well be slow
			}
			command := exec.CommandContext(t.Context(), program, args...)
			command.Env = append(os.Environ(), "SIMULATION_RULE="+name)
			said, err := command.CombinedOutput()
			assert.Error(t, err)
			assert.Contains(t, string(said), rule.told)
		})
	}
}

func FuzzInformer(f *testing.F) { simulation.Fuzz(f, defineInformer) }

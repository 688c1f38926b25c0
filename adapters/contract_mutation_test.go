package adapters_test

import (
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// mutating names the implementation of the child of TestContractMutationDetector.
const mutating = "CONTRACT_MUTATION_DETECTOR"

// With KUBE_CACHE_MUTATION_DETECTOR, which client-go reads at its start, the program crashes after
// it has modified an object of the store.
func TestContractMutationDetector(t *testing.T) {
	if os.Getenv(mutating) != "" {
		t.Skip("this is the child")
	}
	for _, impl := range implementations {
		t.Run("impl="+impl.name, func(t *testing.T) {
			for how, want := range map[string]string{"initial": "cache *v1.Pod modified", "add": "cache *v1.Pod modified", "never": "PASS"} {
				child := exec.Command(os.Args[0], "-test.run=^TestContractMutationDetectorChild$")
				child.Env = append(os.Environ(), "KUBE_CACHE_MUTATION_DETECTOR=true", mutating+"="+impl.name+" "+how)
				output, err := child.CombinedOutput()
				assert.Equal(t, how == "never", err == nil, how)
				assert.Contains(t, string(output), want, how)
			}
		})
	}
}

func TestContractMutationDetectorChild(t *testing.T) {
	for _, impl := range implementations {
		for _, how := range []string{"initial", "add", "never"} {
			if os.Getenv(mutating) != impl.name+" "+how {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				s := &script{}
				s.lists("10", pod("a", "1"))
				inf := impl.simple(s, &corev1.Pod{}, 0, cache.Indexers{})
				_, err := inf.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{AddFunc: func(obj any, initial bool) {
					if initial == (how == "initial") && how != "never" {
						obj.(*corev1.Pod).Labels = map[string]string{"changed": "true"}
					}
				}})
				require.NoError(t, err)
				start(t, inf)
				synctest.Wait()
				s.send(t, added(pod("b", "11")))
				time.Sleep(time.Minute)
			})
		}
	}
}

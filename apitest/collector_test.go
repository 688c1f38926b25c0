package apitest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/apitest"
)

// family is ConfigMaps that own each other, on a server that collects garbage.
type family struct {
	*testing.T
	srv  *apitest.Server
	maps corev1client.ConfigMapInterface
}

// inFamily runs a test in a bubble.
func inFamily(t *testing.T, test func(f *family)) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, apitest.WithGarbageCollection())
		test(&family{T: t, srv: srv, maps: clientset(t, srv, "").CoreV1().ConfigMaps("default")})
	})
}

// owned returns a ConfigMap whose owners are others. Its UID is its name.
func owned(name string, owners ...string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	for _, owner := range owners {
		cm.OwnerReferences = append(cm.OwnerReferences, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: types.UID(owner), BlockOwnerDeletion: ptr.To(true),
		})
	}
	return cm
}

// add creates ConfigMaps and waits until the collector knows them: it deletes an owner before dependents
// that it has not seen yet, as Kubernetes' collector does.
func (f *family) add(maps ...*corev1.ConfigMap) {
	f.Helper()
	for _, cm := range maps {
		require.NoError(f, f.srv.Create(f.Context(), cm))
	}
	synctest.Wait()
}

// TestForegroundDeletionOfManyDependents: it takes about as long as one in the background.
func TestForegroundDeletionOfManyDependents(t *testing.T) {
	took := map[metav1.DeletionPropagation]time.Duration{}
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		begun := time.Now()
		inFamily(t, func(f *family) {
			maps := []*corev1.ConfigMap{owned("owner")}
			for i := range 10_000 {
				maps = append(maps, owned(fmt.Sprint("dependent-", i), "owner"))
			}
			f.add(maps...)
			f.delete("owner", policy)
			assert.Empty(f, f.settled())
		})
		took[policy] = time.Since(begun)
	}
	assert.Less(t, took[metav1.DeletePropagationForeground], 4*took[metav1.DeletePropagationBackground]+time.Second)
}

func (f *family) delete(name string, policy metav1.DeletionPropagation) {
	f.Helper()
	require.NoError(f, f.maps.Delete(f.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}))
}

// settled returns the ConfigMaps that are left when everything has been done, by name.
func (f *family) settled() map[string]corev1.ConfigMap {
	f.Helper()
	synctest.Wait()
	list, err := f.maps.List(f.Context(), metav1.ListOptions{})
	require.NoError(f, err)
	left := map[string]corev1.ConfigMap{}
	for _, cm := range list.Items {
		left[cm.Name] = cm
	}
	return left
}

func (f *family) release(name string) {
	f.Helper()
	_, err := f.maps.Patch(f.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(f, err)
}

func TestGarbageIsCollectedInTheBackground(t *testing.T) {
	inFamily(t, func(f *family) {
		held := owned("held", "a")
		held.Finalizers = []string{"example.com/hold"}
		f.add(owned("a"), owned("b", "a"), owned("c", "b"), held, owned("other"))
		f.delete("a", metav1.DeletePropagationBackground)
		left := f.settled()
		require.Len(f, left, 2)
		assert.Contains(f, left, "other")
		assert.NotNil(f, left["held"].DeletionTimestamp)
		f.release("held")
		assert.Len(f, f.settled(), 1)
	})
}

func TestGarbageIsCollectedInTheForeground(t *testing.T) {
	inFamily(t, func(f *family) {
		held, free := owned("held", "b"), owned("free", "a")
		held.Finalizers = []string{"example.com/hold"}
		free.Finalizers = held.Finalizers
		free.OwnerReferences[0].BlockOwnerDeletion = nil
		f.add(owned("a"), owned("b", "a"), owned("c", "b"), held, free)
		w, err := f.maps.Watch(f.Context(), metav1.ListOptions{ResourceVersion: f.srv.ResourceVersion()})
		require.NoError(f, err)
		defer w.Stop()
		f.delete("a", metav1.DeletePropagationForeground)
		left := f.settled()
		assert.Len(f, left, 4, "owners wait for what blocks them: %v", left)
		assert.NotContains(f, left, "c")
		assert.Equal(f, []string{metav1.FinalizerDeleteDependents}, left["b"].Finalizers, "an owner is deleted as its own owner is")
		f.release("held")
		left = f.settled()
		assert.Len(f, left, 1)
		assert.NotNil(f, left["free"].DeletionTimestamp, "it blocks nobody, and is deleted as well")

		var gone []string
		for len(gone) < 4 {
			if e := next(f.T, w); e.Type == watch.Deleted {
				gone = append(gone, e.Object.(*corev1.ConfigMap).Name)
			}
		}
		assert.Equal(f, []string{"c", "held", "b", "a"}, gone)
	})
}

func TestOrphansAreKept(t *testing.T) {
	inFamily(t, func(f *family) {
		f.add(owned("a"), owned("other"), owned("b", "a"), owned("c", "a", "other"), owned("d", "b"))
		f.delete("a", metav1.DeletePropagationOrphan)
		left := f.settled()
		require.Len(f, left, 4)
		assert.Empty(f, left["b"].OwnerReferences)
		assert.Len(f, left["c"].OwnerReferences, 1)
		assert.Len(f, left["d"].OwnerReferences, 1, "its owner is there")
	})
}

func TestOneOwnerIsEnough(t *testing.T) {
	inFamily(t, func(f *family) {
		f.add(owned("a"), owned("b"), owned("c", "a", "b"))
		f.delete("a", metav1.DeletePropagationForeground)
		left := f.settled()
		require.Len(f, left, 2)
		require.Len(f, left["c"].OwnerReferences, 1, "a dependent that has other owners does not block")
		assert.Equal(f, "b", left["c"].OwnerReferences[0].Name)
		f.delete("b", metav1.DeletePropagationBackground)
		assert.Empty(f, f.settled())
	})
}

func TestDependentsOfUnknownOwners(t *testing.T) {
	inFamily(t, func(f *family) {
		stranger, unknown, elsewhere := owned("stranger", "a"), owned("unknown", "a"), owned("elsewhere", "a")
		stranger.OwnerReferences[0].UID = "of a predecessor"
		unknown.OwnerReferences[0].Kind = "Unheard"
		elsewhere.Namespace = "another"
		f.add(owned("late", "gone"), owned("a"), stranger, unknown, elsewhere)
		left := f.settled()
		assert.Len(f, left, 2)
		assert.Contains(f, left, "a")
		assert.Contains(f, left, "unknown", "nobody knows what has become of its owner")
		others, err := clientset(f.T, f.srv, "").CoreV1().ConfigMaps("another").List(f.Context(), metav1.ListOptions{})
		require.NoError(f, err)
		assert.Empty(f, others.Items, "owners are in the same namespace")
	})
}

func TestOwnersWithoutNamespace(t *testing.T) {
	inFamily(t, func(f *family) {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "r", UID: "r"}}
		bad := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "bad", OwnerReferences: owned("x", "nobody").OwnerReferences}}
		cm := owned("a", "r")
		cm.OwnerReferences[0].APIVersion, cm.OwnerReferences[0].Kind = "rbac.authorization.k8s.io/v1", "ClusterRole"
		require.NoError(f, f.srv.Create(f.Context(), role, bad))
		f.add(cm)
		assert.Len(f, f.settled(), 1)
		require.NoError(f, f.srv.Delete(f.Context(), role))
		assert.Empty(f, f.settled())
		_, err := clientset(f.T, f.srv, "").RbacV1().ClusterRoles().Get(f.Context(), "bad", metav1.GetOptions{})
		assert.NoError(f, err, "an owner in a namespace can be nobody's who is in none")
	})
}

// A circle of blocking owners is deleted in the foreground, too.
func TestCircleOfOwners(t *testing.T) {
	inFamily(t, func(f *family) {
		f.add(owned("a"), owned("b", "a"), owned("c", "b"))
		_, err := f.maps.Patch(f.Context(), "a", types.StrategicMergePatchType,
			[]byte(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":"c","blockOwnerDeletion":true}]}}`), metav1.PatchOptions{})
		require.NoError(f, err)
		assert.Len(f, f.settled(), 3)
		f.delete("a", metav1.DeletePropagationForeground)
		assert.Empty(f, f.settled())
	})
}

func TestGarbageOfForgottenHistory(t *testing.T) {
	inFamily(t, func(f *family) {
		for i := range 20 {
			name := fmt.Sprint("a", i)
			f.add(owned(name), owned("b"+name, name))
			f.srv.Compact()
			require.NoError(f, f.srv.Delete(f.Context(), owned(name)))
			f.srv.Compact()
		}
		assert.Empty(f, f.settled())
	})
}

func TestReplicasAreCollected(t *testing.T) {
	inFamily(t, func(f *family) {
		f.add(owned("a"), owned("b", "a"))
		other := replicaOf(f.T, f.srv)
		require.NoError(f, clientset(f.T, other, "").CoreV1().ConfigMaps("default").Delete(f.Context(), "a", metav1.DeleteOptions{}))
		assert.Empty(f, f.settled())
	})
}

func TestFinalizersStayWithoutCollection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		f := &family{T: t, srv: srv, maps: clientset(t, srv, "").CoreV1().ConfigMaps("default")}
		f.add(owned("a"), owned("b", "a"))
		f.delete("a", metav1.DeletePropagationForeground)
		assert.Len(t, f.settled(), 2)
	})
}

// TestCollectionSettles removes random members of random families. In the end, every object has its
// owners, no deletion waits for a collector, and the same seed gave the same events.
func TestCollectionSettles(t *testing.T) {
	for seed := range uint64(40) {
		var first []string
		for range 2 {
			inFamily(t, func(f *family) {
				begun := f.srv.ResourceVersion()
				f.live(rand.New(rand.NewPCG(seed, 1)))
				left := f.settled()
				for name, cm := range left {
					assert.Nil(f, cm.DeletionTimestamp, "seed %d: %s", seed, name)
					for _, ref := range cm.OwnerReferences {
						assert.Contains(f, left, ref.Name, "seed %d: the owner of %s", seed, name)
					}
				}
				w, err := f.maps.Watch(f.Context(), metav1.ListOptions{ResourceVersion: begun, TimeoutSeconds: ptr.To[int64](1)})
				require.NoError(f, err)
				var trace []string
				for _, e := range remaining(f.T, w) {
					trace = append(trace, fmt.Sprint(e.Type, e.Object.(*corev1.ConfigMap).Name, e.Object.(*corev1.ConfigMap).Finalizers))
				}
				if first == nil {
					first = trace
				}
				assert.Equal(f, first, trace, "seed %d", seed)
			})
		}
	}
}

// live makes and deletes members, with rests between.
func (f *family) live(random *rand.Rand) {
	policies := []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	}
	for i := range 20 {
		var owners []string
		for range random.IntN(3) {
			if owner := fmt.Sprint(random.IntN(i + 1)); owner != fmt.Sprint(i) {
				owners = append(owners, owner)
			}
		}
		f.add(owned(fmt.Sprint(i), owners...))
		victim := fmt.Sprint(random.IntN(i + 1))
		policy := policies[random.IntN(len(policies))]
		if left := f.settled(); random.IntN(3) == 0 && left[victim].Name != "" {
			f.delete(victim, policy)
			synctest.Wait()
		}
	}
}

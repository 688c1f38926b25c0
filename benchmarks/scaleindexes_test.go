package benchmarks

import (
	"fmt"
	"iter"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/index"
)

// BenchmarkScaleIndexes varies the number of indexes, with 10,000 objects and
// one handler. Updates leave the keys of all indexes as they are, as most do in
// a cluster. Of 4 indexes one has several keys for an object, of 8 two, of 16
// three; the others have one or none.
//
// Every string of a Pod is its own here, as it is when the Pod was decoded, so that no
// comparison of keys succeeds early, by their place in memory. Such Pods are large, so the
// events are those of 2,000 of them.
func BenchmarkScaleIndexes(b *testing.B) {
	of := sync.OnceValue(func() *sample { return newOwnSample(b, cluster.New(10_000, 100), 500) })
	for _, n := range []int{0, 1, 2, 4, 8, 16} {
		for _, s := range sidesWithIndexes(n) {
			start := func() *point { return newPoint(b, s, true, of(), 1) }
			benchmarkPoint(b, fmt.Sprintf("indexes=%d/impl=%s", n, s.impl), start, (*point).measure)
		}
	}
}

// sidesWithIndexes returns both sides with the first n of 16 indexes.
func sidesWithIndexes(n int) []side {
	return []side{
		{typedSide.impl, func(tb testing.TB, from cache.ListerWatcher, _ bool) informer {
			return newTypedWith(tb, from, typedIndexes()[:n]...)
		}},
		{clientGoSide.impl, func(_ testing.TB, from cache.ListerWatcher, _ bool) informer {
			indexers := cache.Indexers{}
			for _, i := range clientGoIndexes()[:n] {
				indexers[i.name] = i.keys
			}
			return newShared(cache.NewSharedIndexInformer(from, &corev1.Pod{}, 0, indexers))
		}},
	}
}

// typedIndexes returns 16 indexes as users of this project write them.
func typedIndexes() []index.Definition[*corev1.Pod] {
	return []index.Definition[*corev1.Pod]{
		indexByNode(),
		indexByApp(),
		index.Single("ip", func(pod *corev1.Pod) (string, bool) { return given(pod.Status.PodIP) }),
		index.New("config-map", func(pod *corev1.Pod) []index.Key { return keysIn(pod.Namespace, configMapsOf(pod)) }),
		index.Single("owner", func(pod *corev1.Pod) (types.UID, bool) { return given(ownerOf(pod)) }),
		index.Single("tier", func(pod *corev1.Pod) (string, bool) { return given(pod.Labels["tier"]) }),
		index.Single("service-account", func(pod *corev1.Pod) (index.Key, bool) {
			return index.Key{Namespace: pod.Namespace, Name: pod.Spec.ServiceAccountName}, true
		}),
		index.New("image", imagesOf),
		index.Single("template-hash", func(pod *corev1.Pod) (string, bool) { return given(pod.Labels["pod-template-hash"]) }),
		index.Single("phase", func(pod *corev1.Pod) (corev1.PodPhase, bool) { return given(pod.Status.Phase) }),
		index.Single("host-ip", func(pod *corev1.Pod) (string, bool) { return given(pod.Status.HostIP) }),
		index.Single("uid", func(pod *corev1.Pod) (types.UID, bool) { return given(pod.UID) }),
		index.Single("qos", func(pod *corev1.Pod) (corev1.PodQOSClass, bool) { return given(pod.Status.QOSClass) }),
		index.Single("scheduler", func(pod *corev1.Pod) (string, bool) { return given(pod.Spec.SchedulerName) }),
		index.New("secret", func(pod *corev1.Pod) []index.Key { return keysIn(pod.Namespace, secretsOf(pod)) }),
		index.New("container", containerIDsOf),
	}
}

// clientGoIndex is an entry of a cache.Indexers, which have no order.
type clientGoIndex struct {
	name string
	keys cache.IndexFunc
}

// clientGoIndexes returns the same as typedIndexes as users of client-go write
// them.
func clientGoIndexes() []clientGoIndex {
	two := twoIndexers()
	return []clientGoIndex{
		{"node", two["node"]},
		{"app", two["app"]},
		{"ip", func(obj any) ([]string, error) { return one(obj.(*corev1.Pod).Status.PodIP) }},
		{"config-map", func(obj any) ([]string, error) {
			pod := obj.(*corev1.Pod)
			return joinedIn(pod.Namespace, configMapsOf(pod)), nil
		}},
		{"owner", func(obj any) ([]string, error) { return one(string(ownerOf(obj.(*corev1.Pod)))) }},
		{"tier", func(obj any) ([]string, error) { return one(obj.(*corev1.Pod).Labels["tier"]) }},
		{"service-account", func(obj any) ([]string, error) {
			pod := obj.(*corev1.Pod)
			return one(pod.Namespace + "/" + pod.Spec.ServiceAccountName)
		}},
		{"image", func(obj any) ([]string, error) { return imagesOf(obj.(*corev1.Pod)), nil }},
		{"template-hash", func(obj any) ([]string, error) { return one(obj.(*corev1.Pod).Labels["pod-template-hash"]) }},
		{"phase", func(obj any) ([]string, error) { return one(string(obj.(*corev1.Pod).Status.Phase)) }},
		{"host-ip", func(obj any) ([]string, error) { return one(obj.(*corev1.Pod).Status.HostIP) }},
		{"uid", func(obj any) ([]string, error) { return one(string(obj.(*corev1.Pod).UID)) }},
		{"qos", func(obj any) ([]string, error) { return one(string(obj.(*corev1.Pod).Status.QOSClass)) }},
		{"scheduler", func(obj any) ([]string, error) { return one(obj.(*corev1.Pod).Spec.SchedulerName) }},
		{"secret", func(obj any) ([]string, error) {
			pod := obj.(*corev1.Pod)
			return joinedIn(pod.Namespace, secretsOf(pod)), nil
		}},
		{"container", func(obj any) ([]string, error) { return containerIDsOf(obj.(*corev1.Pod)), nil }},
	}
}

// given returns a key, and whether it is one.
func given[S ~string](key S) (S, bool) { return key, key != "" }

// one returns the result of an index function of client-go.
func one(key string) ([]string, error) {
	if key == "" {
		return nil, nil
	}
	return []string{key}, nil
}

// keysIn returns keys for names in a namespace.
func keysIn(namespace string, names iter.Seq[string]) (keys []index.Key) {
	for name := range names {
		keys = append(keys, index.Key{Namespace: namespace, Name: name})
	}
	return keys
}

// joinedIn returns the same in the form that client-go's indexes take.
func joinedIn(namespace string, names iter.Seq[string]) (keys []string) {
	for name := range names {
		keys = append(keys, namespace+"/"+name)
	}
	return keys
}

func ownerOf(pod *corev1.Pod) types.UID {
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return owner.UID
	}
	return ""
}

// configMapsOf ranges over the names of those that are mounted.
func configMapsOf(pod *corev1.Pod) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range pod.Spec.Volumes {
			switch v := &pod.Spec.Volumes[i]; {
			case v.ConfigMap != nil:
				if !yield(v.ConfigMap.Name) {
					return
				}
			case v.Projected != nil:
				for _, source := range v.Projected.Sources {
					if source.ConfigMap != nil && !yield(source.ConfigMap.Name) {
						return
					}
				}
			}
		}
	}
}

// secretsOf ranges over the names of those that variables are from.
func secretsOf(pod *corev1.Pod) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range pod.Spec.Containers {
			for _, v := range pod.Spec.Containers[i].Env {
				if v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil && !yield(v.ValueFrom.SecretKeyRef.Name) {
					return
				}
			}
		}
	}
}

func imagesOf(pod *corev1.Pod) []string {
	images := make([]string, len(pod.Spec.Containers))
	for i := range images {
		images[i] = pod.Spec.Containers[i].Image
	}
	return images
}

func containerIDsOf(pod *corev1.Pod) []string {
	ids := make([]string, len(pod.Status.ContainerStatuses))
	for i := range ids {
		ids[i] = pod.Status.ContainerStatuses[i].ContainerID
	}
	return ids
}

package adapters_test

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	clientgometadata "k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	clientgodynamic "k8s.io/client-go/dynamic/dynamicinformer"

	"github.com/kubetyped/informer/adapters/dynamicinformer"
	"github.com/kubetyped/informer/adapters/metadatainformer"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed/kube"
)

// resourceInformers make informers of Pods, ours with options and client-go's, and return a
// part that the Pods of labelled have in common.
var resourceInformers = map[string]struct {
	ours, theirs func(t *testing.T, config *rest.Config, shares, transforms bool) informers.GenericInformer
	part         func(obj any) any
}{
	"dynamicinformer": {
		func(t *testing.T, config *rest.Config, shares, transforms bool) informers.GenericInformer {
			client, err := dynamic.NewForConfig(config)
			require.NoError(t, err)
			opts := []dynamicinformer.SharedInformerOption{dynamicinformer.WithNamespace("shop"), dynamicinformer.WithTweakListOptions(withLabel)}
			if shares {
				opts = append(opts, dynamicinformer.WithDeduplication())
			}
			g := dynamicinformer.NewDynamicSharedInformerFactoryWithOptions(client, 0, opts...).ForResource(podResource)
			if transforms {
				require.NoError(t, g.Informer().SetTransform(same))
			}
			return g
		},
		func(t *testing.T, config *rest.Config, _, _ bool) informers.GenericInformer {
			client, err := dynamic.NewForConfig(config)
			require.NoError(t, err)
			return clientgodynamic.NewFilteredDynamicSharedInformerFactory(client, 0, "shop", withLabel).ForResource(podResource)
		},
		func(obj any) any {
			tolerations, _, _ := unstructured.NestedFieldNoCopy(obj.(*unstructured.Unstructured).Object, "spec", "tolerations")
			return tolerations.([]any)[0]
		},
	},
	"metadatainformer": {
		func(t *testing.T, config *rest.Config, shares, transforms bool) informers.GenericInformer {
			client, err := metadata.NewForConfig(config)
			require.NoError(t, err)
			opts := []metadatainformer.SharedInformerOption{metadatainformer.WithNamespace("shop"), metadatainformer.WithTweakListOptions(withLabel)}
			if shares {
				opts = append(opts, metadatainformer.WithDeduplication())
			}
			if transforms {
				opts = append(opts, metadatainformer.WithTransform(same))
			}
			return metadatainformer.NewSharedInformerFactoryWithOptions(client, 0, opts...).ForResource(podResource)
		},
		func(t *testing.T, config *rest.Config, _, _ bool) informers.GenericInformer {
			client, err := metadata.NewForConfig(config)
			require.NoError(t, err)
			return clientgometadata.NewFilteredSharedInformerFactory(client, 0, "shop", withLabel).ForResource(podResource)
		},
		func(obj any) any { return obj.(*metav1.PartialObjectMetadata).Labels },
	},
}

func same(obj any) (any, error) { return obj, nil }

func withLabel(opts *metav1.ListOptions) { opts.LabelSelector = "app=shop" }

// labelled returns a Pod that the informers of resourceInformers have.
func labelled(name string) *corev1.Pod {
	pod := tolerant("shop", name)
	pod.Labels = map[string]string{"app": "shop", "team": "checkout"}
	return pod
}

// TestResourceDeduplication: by their option and the transport, dynamic and metadata factories keep
// the parts that objects have in common once; otherwise they do not. Objects are in each case
// what client-go's factories have, kinds included, from lists that are streamed or not, and
// from watches.
func TestResourceDeduplication(t *testing.T) {
	t.Parallel()
	for name, of := range resourceInformers {
		for _, test := range []struct {
			name                        string
			wrapped, shares, transforms bool
			plainLists                  bool
			wantShared                  bool
			wantLines                   int
		}{
			{name: "shared", wrapped: true, shares: true, wantShared: true},
			{name: "shared, plain lists", wrapped: true, shares: true, plainLists: true, wantShared: true},
			{name: "without the option", wrapped: true},
			{name: "without the transport", shares: true, wantLines: 1},
			{name: "without the transport, plain lists", shares: true, plainLists: true, wantLines: 1},
			{name: "with a transform", wrapped: true, shares: true, transforms: true},
		} {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				var opts []apitest.Option
				if test.plainLists {
					opts = append(opts, apitest.WithoutWatchList())
				}
				srv := apitest.Start(t, opts...)
				foreign := tolerant("shop", "foreign")
				require.NoError(t, srv.Create(t.Context(), labelled("a"), labelled("b"), foreign, tolerant("other", "z")))
				config := srv.Config()
				config.QPS = -1
				if test.wrapped {
					config.Wrap(kube.DecodingTransport)
				}
				ours := of.ours(t, config, test.shares, test.transforms)
				theirs := of.theirs(t, srv.Config(), false, false)
				logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(0)))
				runUntilSynced(t, logger, ours.Informer(), theirs.Informer())

				require.NoError(t, srv.Create(t.Context(), labelled("c")))
				update := labelled("a")
				update.Annotations = map[string]string{"changed": "true"}
				require.NoError(t, srv.Update(t.Context(), update))
				var got, want map[string]any
				require.Eventually(t, func() bool {
					got, want = objectsOf(t, ours), objectsOf(t, theirs)
					return len(want) == 3 && reflect.DeepEqual(got, want) && annotated(got["shop/a"]) && got["shop/c"] != nil
				}, 10*time.Second, time.Millisecond, "got %v, want %v", got, want)
				parts := map[any]bool{}
				for _, obj := range got {
					parts[reflect.ValueOf(of.part(obj)).Pointer()] = true
				}
				// Those of the list may be decoded at once, without knowing of each other.
				assert.Equal(t, test.wantShared, len(parts) < 3, "%d values of a part", len(parts))

				var lines int
				for _, entry := range logger.GetSink().(ktesting.Underlier).GetBuffer().Data() {
					if entry.Message == bypassed {
						assert.Contains(t, fmt.Sprint(entry.ParameterKVList), "pods")
						lines++
					}
				}
				assert.Equal(t, test.wantLines, lines)
			})
		}
	}
}

const bypassed = "Deduplication is off, because requests bypass kube.DecodingTransport"

// annotated reports whether an object has the annotation of an update.
func annotated(obj any) bool {
	object, ok := obj.(metav1.Object)
	return ok && object.GetAnnotations()["changed"] == "true"
}

// objectsOf returns the objects of an informer by key.
func objectsOf(t *testing.T, of informers.GenericInformer) map[string]any {
	t.Helper()
	objects := map[string]any{}
	for _, obj := range of.Informer().GetStore().List() {
		key, err := cache.MetaNamespaceKeyFunc(obj)
		require.NoError(t, err)
		objects[key] = obj
	}
	return objects
}

// runUntilSynced runs informers, which log to a logger, to the end of the test, and returns
// when they have synced.
func runUntilSynced(t *testing.T, logger klog.Logger, all ...cache.SharedIndexInformer) {
	t.Helper()
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
	var running sync.WaitGroup
	for _, informer := range all {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	syncing, giveUp := context.WithTimeout(ctx, time.Minute)
	defer giveUp()
	for _, informer := range all {
		require.True(t, cache.WaitForCacheSync(syncing.Done(), informer.HasSynced))
	}
}

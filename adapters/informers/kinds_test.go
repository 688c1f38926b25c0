package informers_test

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/informers"
)

// informerOf is an informer with the methods that lead to it.
type informerOf struct {
	name     string // as Core().V1().Pods()
	informer cache.SharedIndexInformer
}

// informersOf asks a factory for the informers of all kinds: that is all methods
// Group().Version().Kind() that lead to something with a method Informer.
func informersOf(factory clientgo.SharedInformerFactory) []informerOf {
	var all []informerOf
	for group, versions := range parts(reflect.ValueOf(factory)) {
		for version, kinds := range parts(versions) {
			for kind, access := range parts(kinds) {
				if access, ok := access.Interface().(interface {
					Informer() cache.SharedIndexInformer
				}); ok {
					all = append(all, informerOf{strings.Join([]string{group, version, kind}, "."), access.Informer()})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b informerOf) int { return strings.Compare(a.name, b.name) })
	return all
}

// parts returns what the methods of v return that take nothing and return an
// interface.
func parts(v reflect.Value) map[string]reflect.Value {
	found := map[string]reflect.Value{}
	for i := range v.NumMethod() {
		method := v.Type().Method(i)
		result := v.Method(i)
		if result.Type().NumIn() == 0 && result.Type().NumOut() == 1 && result.Type().Out(0).Kind() == reflect.Interface {
			found[method.Name] = result.Call(nil)[0].Elem()
		}
	}
	return found
}

var stableVersion = regexp.MustCompile(`^\w+\.V[0-9]+\.`)

// TestStableKindsAreServed fails when client-go has a kind that is missing here.
func TestStableKindsAreServed(t *testing.T) {
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	stable, others := 0, 0
	for _, inf := range informersOf(factory) {
		served := strings.Contains(fmt.Sprintf("%T", inf.informer.GetIndexer()), "adapters.")
		assert.Equal(t, stableVersion.MatchString(inf.name), served, inf.name)
		if served {
			stable++
		} else {
			others++
		}
	}
	assert.GreaterOrEqual(t, stable, 63)
	assert.NotZero(t, others)
}

// TestRequests compares what both factories ask an API server for, kind by kind.
func TestRequests(t *testing.T) {
	tweak := func(options *metav1.ListOptions) { options.LabelSelector, options.FieldSelector = "a=b", "c=d" }
	ours := requests(t, func(client kubernetes.Interface) clientgo.SharedInformerFactory {
		return informers.NewFilteredSharedInformerFactory(client, 0, "shop", tweak)
	})
	theirs := requests(t, func(client kubernetes.Interface) clientgo.SharedInformerFactory {
		return clientgo.NewSharedInformerFactoryWithOptions(client, 0, clientgo.WithNamespace("shop"), clientgo.WithTweakListOptions(tweak))
	})
	require.Greater(t, len(theirs), 120)
	assert.Equal(t, theirs, ours)
}

// requests runs the informers of all kinds, and returns what they asked for.
func requests(t *testing.T, newFactory func(kubernetes.Interface) clientgo.SharedInformerFactory) []string {
	var asked []string
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		factory := newFactory(client)
		informersOf(factory)
		ctx, cancel := context.WithCancel(t.Context())
		defer factory.Shutdown()
		defer cancel()
		factory.StartWithContext(ctx)
		require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).AsError())
		synctest.Wait()
		for _, action := range client.Actions() {
			var restrictions clientgotesting.ListRestrictions
			switch action := action.(type) {
			case clientgotesting.ListActionImpl:
				restrictions = action.ListRestrictions
			case clientgotesting.WatchActionImpl:
				restrictions = clientgotesting.ListRestrictions{Labels: action.WatchRestrictions.Labels, Fields: action.WatchRestrictions.Fields}
			}
			asked = append(asked, fmt.Sprint(action.GetVerb(), action.GetResource(), action.GetNamespace(), restrictions))
		}
	})
	slices.Sort(asked)
	return asked
}

// TestIdentifiers compares the resources that identify the kinds in metrics.
func TestIdentifiers(t *testing.T) {
	ours := identifiers(t, func(name *cache.InformerName) clientgo.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(nil, 0, informers.WithInformerName(name))
	})
	theirs := identifiers(t, func(name *cache.InformerName) clientgo.SharedInformerFactory {
		return clientgo.NewSharedInformerFactoryWithOptions(nil, 0, clientgo.WithInformerName(name))
	})
	require.Greater(t, len(theirs), 60)
	assert.Equal(t, theirs, ours)
}

// identifiers asks for the informers of all kinds.
func identifiers(t *testing.T, newFactory func(*cache.InformerName) clientgo.SharedInformerFactory) []string {
	name, err := cache.NewInformerName("kinds")
	require.NoError(t, err)
	defer name.Release()
	measured.resources = nil
	informersOf(newFactory(name))
	slices.Sort(measured.resources)
	return measured.resources
}

// measured is the metrics provider of the process: it notes the resources of its metrics.
var measured resources

type resources struct {
	cache.InformerMetricsProvider
	resources []string
}

func (r *resources) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	r.resources = append(r.resources, id.Name()+" "+id.GroupVersionResource().String())
	return nil
}

// TestForResource asks by resource first, then by kind.
func TestForResource(t *testing.T) {
	for _, gvr := range []string{"deployments.v1.apps", "roles.v1.rbac.authorization.k8s.io", "horizontalpodautoscalers.v2.autoscaling", "deployments.v1beta1.apps"} {
		resource := resourceOf(gvr)
		factory := informers.NewSharedInformerFactory(fake.NewClientset(), time.Minute)
		generic, err := factory.ForResource(resource)
		require.NoError(t, err)
		assert.Equal(t, resource.Version == "v1beta1", !strings.Contains(fmt.Sprintf("%T", generic.Informer().GetIndexer()), "adapters."), gvr)
		again, err := factory.ForResource(resource)
		require.NoError(t, err)
		assert.Same(t, generic.Informer().GetIndexer(), again.Informer().GetIndexer())
		same := 0
		for _, inf := range informersOf(factory) {
			if inf.informer.GetIndexer() == generic.Informer().GetIndexer() {
				same++
			}
		}
		assert.Equal(t, 1, same)
		_, err = generic.Lister().List(labels.Everything())
		assert.NoError(t, err)
	}
}

// TestForResourceOfEveryKind asks for each resource that client-go's factory lists.
func TestForResourceOfEveryKind(t *testing.T) {
	resources := map[schema.GroupVersionResource]struct{}{}
	client := fake.NewClientset()
	synctest.Test(t, func(t *testing.T) {
		factory := clientgo.NewSharedInformerFactory(client, 0)
		informersOf(factory)
		ctx, cancel := context.WithCancel(t.Context())
		defer factory.Shutdown()
		defer cancel()
		factory.StartWithContext(ctx)
		synctest.Wait()
	})
	for _, action := range client.Actions() {
		resources[action.GetResource()] = struct{}{}
	}
	require.GreaterOrEqual(t, len(resources), 63)
	factory := informers.NewSharedInformerFactory(client, 0)
	for resource := range resources {
		generic, err := factory.ForResource(resource)
		require.NoError(t, err)
		served := strings.Contains(fmt.Sprintf("%T", generic.Informer().GetIndexer()), "adapters.")
		stable := !strings.Contains(resource.Version, "alpha") && !strings.Contains(resource.Version, "beta")
		assert.Equal(t, stable, served, resource)
	}
}

func resourceOf(name string) schema.GroupVersionResource {
	resource, _ := schema.ParseResourceArg(name)
	return *resource
}

package lister_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	appsv1listers "k8s.io/client-go/listers/apps/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
)

func TestGetAsGenerated(t *testing.T) {
	eachLister(t, shops(), func(t *testing.T, l podLister) {
		for _, key := range []index.Key{{Namespace: "north", Name: "web-0"}, {Namespace: "south", Name: "web-0"}, {Namespace: "south", Name: "job-7"}} {
			got, err := l.namespace(key.Namespace).Get(key.Name)
			require.NoError(t, err)
			assert.Equal(t, key, index.KeyOf(got))
		}
		for _, key := range []index.Key{
			{Namespace: "north", Name: "job-7"}, // is in the other namespace
			{Namespace: "nowhere", Name: "web-0"},
			{Namespace: "", Name: "web-0"}, // "" is no namespace of a Pod
			{Namespace: "north", Name: ""},
			{Namespace: "", Name: ""},
		} {
			got, err := l.namespace(key.Namespace).Get(key.Name)
			assert.Nil(t, got)
			assert.True(t, apierrors.IsNotFound(err), "%v: %v", key, err)
			assert.EqualError(t, err, `pod "`+key.Name+`" not found`)
		}
	})
}

// TestGetNamesNoNamespace: a name is a name. Generated listers also find an
// object by the string of its key, which is an accident of theirs.
func TestGetNamesNoNamespace(t *testing.T) {
	generated := corev1listers.NewPodLister(clientGo(t, shops()...))
	_, err := generated.Pods("").Get("north/web-0")
	require.NoError(t, err)

	_, err = lister.New(storeOf(t, shops())).Namespace("").Get("north/web-0")
	assert.True(t, apierrors.IsNotFound(err), err)
}

// TestErrorsAsGenerated: the whole status is the same, not only the text.
func TestErrorsAsGenerated(t *testing.T) {
	for name, test := range map[string]struct {
		text            string
		generated, ours func() error
	}{
		"core": {
			`pod "web-9" not found`,
			func() error {
				_, err := corev1listers.NewPodLister(clientGo[*corev1.Pod](t)).Pods("north").Get("web-9")
				return err
			},
			func() error {
				_, err := lister.New(storeOf[*corev1.Pod](t, nil)).Namespace("north").Get("web-9")
				return err
			},
		},
		"core, two words": {
			`persistentvolumeclaim "disk" not found`,
			func() error {
				_, err := corev1listers.NewPersistentVolumeClaimLister(clientGo[any](t)).PersistentVolumeClaims("north").Get("disk")
				return err
			},
			func() error {
				_, err := lister.New(storeOf[*corev1.PersistentVolumeClaim](t, nil)).Namespace("north").Get("disk")
				return err
			},
		},
		"core, cluster scoped": {
			`node "n1" not found`,
			func() error {
				_, err := corev1listers.NewNodeLister(clientGo[any](t)).Get("n1")
				return err
			},
			func() error {
				_, err := lister.New(storeOf[*corev1.Node](t, nil)).Get("n1")
				return err
			},
		},
		"another group": {
			`deployment.apps "web" not found`,
			func() error {
				_, err := appsv1listers.NewDeploymentLister(clientGo[any](t)).Deployments("north").Get("web")
				return err
			},
			func() error {
				store := storeOf[*appsv1.Deployment](t, nil)
				_, err := lister.ForResource(store, appsv1.Resource("deployment")).Namespace("north").Get("web")
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.ours()
			assert.Equal(t, test.generated(), err)
			assert.True(t, apierrors.IsNotFound(err))
			assert.EqualError(t, err, test.text)
		})
	}
}

// endpoint is a projection that is kept by value.
type endpoint struct {
	namespace, name string
	labels          string
}

func (e endpoint) GetNamespace() string         { return e.namespace }
func (e endpoint) GetName() string              { return e.name }
func (e endpoint) GetLabels() map[string]string { return labels.Set{"app": e.labels} }

func TestProjectionsAreListedToo(t *testing.T) {
	l := lister.New(storeOf(t, []endpoint{{"north", "web-0", "web"}, {"north", "db-0", "db"}}))
	got, err := l.Namespace("north").List(parse(t, "app=db"))
	require.NoError(t, err)
	assert.Equal(t, []endpoint{{"north", "db-0", "db"}}, got)

	none, err := l.Namespace("north").Get("db-1")
	assert.Zero(t, none)
	assert.EqualError(t, err, `endpoint "db-1" not found`)
}

// TestClusterScopedObjects are got by name, with and without a namespace of "".
func TestClusterScopedObjects(t *testing.T) {
	nodes := []*corev1.Node{
		{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: labels.Set{"zone": "a"}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "n2", Labels: labels.Set{"zone": "b"}}},
	}
	generated := corev1listers.NewNodeLister(clientGo(t, nodes...))
	l := lister.New(storeOf(t, nodes, index.Labels[*corev1.Node]("zone")))
	for _, get := range []func(string) (*corev1.Node, error){generated.Get, l.Get, l.Namespace("").Get} {
		n, err := get("n2")
		require.NoError(t, err)
		assert.Same(t, nodes[1], n)
	}
	for _, list := range []func(labels.Selector) ([]*corev1.Node, error){generated.List, l.List, l.Namespace("").List} {
		all, err := list(labels.Everything())
		require.NoError(t, err)
		assert.ElementsMatch(t, nodes, all)
		zone, err := list(parse(t, "zone=b"))
		require.NoError(t, err)
		assert.Equal(t, nodes[1:], zone)
	}
	_, err := l.Namespace("north").Get("n2")
	assert.True(t, apierrors.IsNotFound(err), err)
}

func TestListingAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	l := lister.New(storeOf(t, shops(), index.Labels[*corev1.Pod]("app")))
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := l.Namespace("north").Get("web-1"); err != nil {
			panic(err)
		}
	}), "Get")
	assert.EqualValues(t, 1, testing.AllocsPerRun(100, func() {
		if got, _ := l.List(labels.Everything()); len(got) != 6 {
			panic(got)
		}
	}), "List of everything: the slice")
}

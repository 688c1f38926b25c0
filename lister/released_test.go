package lister_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
)

// TestListersOfAReleasedStore return an error: never "not found", never nothing.
func TestListersOfAReleasedStore(t *testing.T) {
	store := storeOf(t, shops(), index.Labels[*corev1.Pod]("app"))
	all := lister.ForResource[*corev1.Pod](store, corev1.Resource("pod"))
	north := all.Namespace("north")
	store.Release()

	selector := labels.SelectorFromSet(labels.Set{"app": "web"})
	for name, read := range map[string]func() error{
		"get pod":           func() error { _, err := north.Get("web-0"); return err },
		"list pod":          func() error { _, err := all.List(labels.Everything()); return err },
		"list pod: index":   func() error { _, err := all.List(selector); return err },
		"list pod: index: ": func() error { _, err := north.List(nil); return err },
	} {
		err := read()
		require.ErrorIs(t, err, index.ErrReleased, name)
		assert.ErrorContains(t, err, name)
		assert.False(t, apierrors.IsNotFound(err))
	}
	assert.Panics(t, func() {
		for range all.All(selector) {
			t.Error("there is nothing to range over")
		}
	})
}

// brokenSelector panics when it is asked.
type brokenSelector struct{ labels.Selector }

func (brokenSelector) Matches(labels.Labels) bool { panic("broken") }

// TestOtherPanicsPass: a panic of the caller's code is not taken for something else.
func TestOtherPanicsPass(t *testing.T) {
	pods := lister.New(storeOf(t, shops()))
	selector := brokenSelector{labels.SelectorFromSet(labels.Set{"app": "web"})}
	assert.PanicsWithValue(t, "broken", func() { _, _ = pods.List(selector) })
}

// unlabeled is a store whose objects have no labels, since its source leaves them out.
type unlabeled struct{ index.Reader[*corev1.Pod] }

func (unlabeled) Omits(field string) bool { return field == "metadata.labels" }

// TestSelectorsNeedLabels: without labels, a selector is refused, and does not match nothing.
func TestSelectorsNeedLabels(t *testing.T) {
	pods := lister.New[*corev1.Pod](unlabeled{storeOf(t, shops())})
	selector := labels.SelectorFromSet(labels.Set{"app": "web"})
	_, err := pods.List(selector)
	assert.ErrorContains(t, err, `list pod: selector "app=web": the informer's source leaves metadata.labels out`)
	assert.PanicsWithError(t, err.Error(), func() { pods.All(selector) })
	all, err := pods.List(labels.Everything())
	require.NoError(t, err)
	assert.Len(t, all, len(shops()))
}

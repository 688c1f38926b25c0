package apitest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubetyped/informer/apitest"
)

// TestObjects: what a server has is what a generated client lists.
func TestObjects(t *testing.T) {
	srv := apitest.Start(t, apitest.WithObjects(pod("b"), pod("a")))
	got, err := apitest.Objects[*corev1.Pod](srv)
	require.NoError(t, err)
	list, err := clientset(t, srv, "").CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, got, 2)
	for i := range got {
		assert.True(t, equality.Semantic.DeepEqual(&list.Items[i], got[i]), got[i].Name)
	}
	require.NoError(t, srv.Delete(t.Context(), pod("a")))
	got, err = apitest.Objects[*corev1.Pod](srv)
	require.NoError(t, err)
	assert.Len(t, got, 1)
	none, err := apitest.Objects[*corev1.ConfigMap](srv)
	require.NoError(t, err)
	assert.Empty(t, none)
	_, err = apitest.Objects[*unstructured.Unstructured](srv)
	assert.ErrorContains(t, err, "objects: no resource for kind")
	_, err = apitest.Objects[apitest.Object](srv)
	assert.ErrorContains(t, err, "objects: apitest.Object is no pointer to a struct")
}

// TestWithSeed: UIDs and generated names follow from the seed, and from nothing else.
func TestWithSeed(t *testing.T) {
	create := func(opts ...apitest.Option) (made []string) {
		client := clientset(t, apitest.Start(t, opts...), "")
		for range 5 {
			p, err := client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"}}, metav1.CreateOptions{})
			require.NoError(t, err)
			assert.Regexp(t, "^web-[bcdfghjklmnpqrstvwxz2456789]{5}$", p.Name)
			assert.Len(t, strings.Split(string(p.UID), "-"), 5)
			made = append(made, p.Name, string(p.UID))
		}
		return made
	}
	first := create(apitest.WithSeed(1))
	assert.Equal(t, first, create(apitest.WithSeed(1)))
	assert.NotEqual(t, first, create(apitest.WithSeed(2)))
	assert.NotEqual(t, create(), create())
}

package conformance

import (
	"fmt"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/pager"
)

func names(list *corev1.ConfigMapList) []string {
	found := []string{}
	for _, cm := range list.Items {
		found = append(found, cm.Name)
	}
	return found
}

func (c *check) list(options metav1.ListOptions) *corev1.ConfigMapList {
	c.Helper()
	if options.LabelSelector == "" && options.Continue == "" && options.Limit == 0 {
		// Not what controllers put into every namespace.
		options.FieldSelector = "metadata.name!=kube-root-ca.crt"
	}
	list, err := c.maps.List(c.ctx, options)
	require.NoError(c, err)
	return list
}

// once gets a ConfigMap, or lists them, without the client's retries.
func (c *check) once(name string, options metav1.ListOptions) error {
	request := c.client.CoreV1().RESTClient().Get().MaxRetries(0).Namespace(c.ns).Resource("configmaps")
	if name != "" {
		request = request.Name(name)
	}
	return request.VersionedParams(&options, scheme.ParameterCodec).Do(c.ctx).Error()
}

func testListVersions(c *check) {
	a := c.create("a", nil)
	b := c.create("b", nil)
	require.NoError(c, c.maps.Delete(c.ctx, "a", metav1.DeleteOptions{}))

	now := c.list(metav1.ListOptions{})
	assert.Equal(c, []string{"b"}, names(now))
	assert.Greater(c, c.version(now.ResourceVersion), c.version(b.ResourceVersion))
	assert.Equal(c, b.ResourceVersion, now.Items[0].ResourceVersion)

	then := c.list(metav1.ListOptions{ResourceVersion: a.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	assert.Equal(c, []string{"a"}, names(then))
	assert.Equal(c, a.ResourceVersion, then.ResourceVersion)

	fresh := c.list(metav1.ListOptions{ResourceVersion: now.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	assert.Equal(c, []string{"b"}, names(fresh))
	assert.GreaterOrEqual(c, c.version(fresh.ResourceVersion), c.version(now.ResourceVersion))

	future := fmt.Sprint(c.version(now.ResourceVersion) + 1_000_000)
	var waiting sync.WaitGroup // a real server hopes for the version for some seconds
	for _, match := range []metav1.ResourceVersionMatch{metav1.ResourceVersionMatchExact, metav1.ResourceVersionMatchNotOlderThan, ""} {
		waiting.Go(func() {
			err := c.once("", metav1.ListOptions{ResourceVersion: future, ResourceVersionMatch: match})
			assert.True(c, apierrors.IsTimeout(err), "%s: %v", match, err)
			assert.True(c, apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge), "%s: %v", match, err)
		})
	}
	waiting.Wait()
}

func testListPages(c *check) {
	labels := map[string]string{"page": "me"}
	for i := range 7 {
		c.create(fmt.Sprintf("p%d", i), labels)
	}
	first := c.list(metav1.ListOptions{Limit: 3, FieldSelector: "metadata.namespace=" + c.ns})
	assert.Equal(c, 3, len(first.Items))
	require.NotEmpty(c, first.Continue)

	// What happens between the pages is not seen.
	require.NoError(c, c.maps.Delete(c.ctx, "p5", metav1.DeleteOptions{}))
	c.create("p9", labels)
	found, page := names(first), first
	for page.Continue != "" {
		page = c.list(metav1.ListOptions{Limit: 3, Continue: page.Continue, FieldSelector: "metadata.namespace=" + c.ns})
		assert.Equal(c, first.ResourceVersion, page.ResourceVersion)
		found = append(found, names(page)...)
	}
	assert.Subset(c, found, []string{"p0", "p1", "p2", "p3", "p4", "p5", "p6"})
	assert.NotContains(c, found, "p9")

	whole := c.list(metav1.ListOptions{Limit: 3, ResourceVersion: "0", LabelSelector: "page=me"})
	assert.Empty(c, whole.Continue, "a list from the cache has no pages")
}

func testListPagesSelected(c *check) {
	for i := range 6 {
		c.create(fmt.Sprintf("p%d", i), map[string]string{"odd": fmt.Sprint(i % 2)})
	}
	page := c.list(metav1.ListOptions{Limit: 4})
	require.NotNil(c, page.RemainingItemCount, "no selector: what remains is known")
	assert.GreaterOrEqual(c, *page.RemainingItemCount, int64(2))

	page = c.list(metav1.ListOptions{Limit: 2, LabelSelector: "odd=1"})
	assert.Equal(c, []string{"p1", "p3"}, names(page))
	assert.Nil(c, page.RemainingItemCount, "with a selector it is not")
	page = c.list(metav1.ListOptions{Limit: 2, LabelSelector: "odd=1", Continue: page.Continue})
	assert.Equal(c, []string{"p5"}, names(page))
	assert.Empty(c, page.Continue)
}

func testListRefused(c *check) {
	cm := c.create("a", nil)
	for _, options := range []metav1.ListOptions{
		{ResourceVersionMatch: metav1.ResourceVersionMatchExact},
		{ResourceVersion: "0", ResourceVersionMatch: metav1.ResourceVersionMatchExact},
		{ResourceVersion: cm.ResourceVersion, ResourceVersionMatch: "Sometimes"},
	} {
		_, err := c.maps.List(c.ctx, options)
		assert.True(c, apierrors.IsInvalid(err), "%v: %v", options, err)
	}
	for _, options := range []metav1.ListOptions{
		{ResourceVersion: "seven"},
		{Continue: "nonsense"},
		{FieldSelector: "data.k=v"},
		{LabelSelector: "a=b=c"},
	} {
		_, err := c.maps.List(c.ctx, options)
		assert.True(c, apierrors.IsBadRequest(err), "%v: %v", options, err)
	}
	err := c.once("a", metav1.ListOptions{ResourceVersion: fmt.Sprint(c.version(cm.ResourceVersion) + 1_000_000)})
	assert.True(c, apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge), "%v", err)
}

func testPager(c *check) {
	for i := range 11 {
		c.create(fmt.Sprintf("p%02d", i), map[string]string{"page": "me"})
	}
	pages := 0
	p := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) {
		pages++
		return c.maps.List(c.ctx, options)
	}))
	p.PageSize = 4
	seen := 0
	err := p.EachListItem(c.ctx, metav1.ListOptions{LabelSelector: "page=me"}, func(obj runtime.Object) error {
		assert.Equal(c, fmt.Sprintf("p%02d", seen), obj.(*corev1.ConfigMap).Name)
		seen++
		return nil
	})
	require.NoError(c, err)
	assert.Equal(c, 11, seen)
	assert.Equal(c, 3, pages)
}

func testCompaction(c *check) {
	if c.rig.Compact == nil {
		c.Skip("the server does not compact on request")
	}
	a := c.create("a", nil)
	c.create("b", nil)
	first := c.list(metav1.ListOptions{Limit: 1})
	c.change(a, func(cm *corev1.ConfigMap) { cm.Data["k"] = "w" })
	require.NoError(c, c.rig.Compact(c.ctx))

	_, err := c.maps.List(c.ctx, metav1.ListOptions{ResourceVersion: a.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	assert.True(c, apierrors.IsResourceExpired(err), "%v", err)

	_, err = c.maps.List(c.ctx, metav1.ListOptions{Limit: 1, Continue: first.Continue})
	require.True(c, apierrors.IsResourceExpired(err), "%v", err)
	var status apierrors.APIStatus
	require.ErrorAs(c, err, &status)
	token := status.Status().Continue
	require.NotEmpty(c, token, "an expired list can go on at the present")
	rest, err := c.maps.List(c.ctx, metav1.ListOptions{Continue: token})
	require.NoError(c, err)
	assert.Contains(c, names(rest), "b")

	w := c.watchOf(c.maps, metav1.ListOptions{ResourceVersion: a.ResourceVersion})
	events := c.ended(w)
	require.Len(c, events, 1)
	assert.EqualValues(c, "ERROR", events[0].Type)
	err = apierrors.FromObject(events[0].Object)
	assert.True(c, apierrors.IsResourceExpired(err), "%v", err)
}

package cluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPodsHaveTheFieldsOfWholePods(t *testing.T) {
	c := New(1000, 10)
	seen := map[string]bool{}
	for i := range c.Size {
		pod, whole := c.Pod(i, 2), c.Whole(i, 2)
		seen[pod.Namespace+"/"+pod.Name] = true
		require.Equal(t, whole.UID, pod.UID)
		require.Equal(t, whole.Labels, pod.Labels)
		require.Equal(t, whole.ResourceVersion, pod.ResourceVersion)
	}
	assert.Len(t, seen, c.Size, "names are unique")
}

func TestPodsAreAlwaysTheSame(t *testing.T) {
	assert.Equal(t, New(300, 10).Pods(2), New(300, 10).Pods(2))
}

func TestAppsHaveTheirPods(t *testing.T) {
	c := New(310, 10)
	found := map[string]int{}
	for _, pod := range c.Pods(1) {
		found[pod.Labels["app"]]++
	}
	assert.Len(t, found, 31)
	for _, app := range c.Apps() {
		assert.Equal(t, c.PerApp, found[app], app)
	}
}

func TestUpdatesGoThroughAllPods(t *testing.T) {
	c := New(300, 10)
	events := c.Updates(2*c.Size + 1)
	versions := map[string]map[string]bool{}
	for _, event := range events[:2*c.Size] {
		pod := PodOf(event)
		if versions[pod.Name] == nil {
			versions[pod.Name] = map[string]bool{}
		}
		versions[pod.Name][pod.ResourceVersion] = true
	}
	assert.Len(t, versions, c.Size)
	for name, of := range versions {
		assert.Len(t, of, 2, name)
	}
	assert.Len(t, events, 2*c.Size+1)
}

func TestPodName(t *testing.T) {
	c := New(20_000, 20)
	for _, i := range []int{0, 19, 20, 12_345} {
		assert.Equal(t, c.Pod(i, 1).Name, PodName(i/20, i))
	}
}

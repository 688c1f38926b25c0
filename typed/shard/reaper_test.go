package shard

import (
	"testing"

	"github.com/stretchr/testify/assert"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// TestReaperForgetsDeletedLeases: a Lease that was deleted is left alone as long as it is
// found, and remembered no longer, so that memory does not grow with the members that died.
func TestReaperForgetsDeletedLeases(t *testing.T) {
	sightings := func(uids ...types.UID) (all []*sighting) {
		for _, uid := range uids {
			all = append(all, &sighting{lease: &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{UID: uid}}})
		}
		return all
	}
	done := sets.New[types.UID]("a", "b")
	found := sightings("b", "c")
	left, done := notDone(found, done)
	assert.Equal(t, found[1:], left)
	assert.Equal(t, sets.New[types.UID]("b"), done)

	left, done = notDone(nil, done)
	assert.Empty(t, left)
	assert.Empty(t, done)
}

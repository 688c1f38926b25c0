package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func TestTallyReachesAVersionThatComesLater(t *testing.T) {
	var tally tally
	reached, err := tally.reach("100")
	require.NoError(t, err)
	for _, version := range []string{"9", "99"} {
		tally.update(version)
		assert.False(t, isClosed(reached), version)
	}
	tally.update("101") // a later one has taken its place
	assert.True(t, isClosed(reached))
	tally.update("102")
	tally.other()
	updates, others := tally.reset()
	assert.Equal(t, []int{4, 1}, []int{updates, others})
}

func TestTallyHasReachedAVersionBefore(t *testing.T) {
	var tally tally
	tally.update("100")
	updates, _ := tally.reset()
	assert.Equal(t, 1, updates)
	reached, err := tally.reach("100")
	require.NoError(t, err)
	assert.True(t, isClosed(reached))
}

func TestTallyRefusesBadVersions(t *testing.T) {
	var tally tally
	_, err := tally.reach("soon")
	assert.Error(t, err)
}

package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/apitest/internal/store"
)

func TestLogOfAllTables(t *testing.T) {
	s := store.New(100)
	a, b := s.Table(), s.Table()
	put(t, a, "before")
	log := s.Log()
	entries, changed, err := log.Next()
	require.NoError(t, err)
	assert.Empty(t, entries)
	put(t, b, "x")
	<-changed
	put(t, a, "y")
	put(t, b, "x")
	entries, changed, err = log.Next()
	require.NoError(t, err)
	assert.Nil(t, changed, "there may be more already")
	require.Len(t, entries, 3)
	for i, e := range entries {
		assert.Equal(t, []*store.Table{b, a, b}[i], e.Table)
		assert.EqualValues(t, 3+i, e.Revision())
	}
}

func TestLogOfForgottenWrites(t *testing.T) {
	s := store.New(100)
	a, b := s.Table(), s.Table()
	log := s.Log()
	put(t, b, "x")
	put(t, a, "y")
	put(t, b, "x")
	s.Compact()
	_, _, err := log.Next()
	require.ErrorIs(t, err, store.ErrCompacted)
	entries := log.Restart()
	require.Len(t, entries, 2)
	assert.Equal(t, "3", entries[0].Current.Object.(interface{ GetResourceVersion() string }).GetResourceVersion())
	s.Compact()
	entries, changed, err := log.Next()
	require.NoError(t, err, "what has been read may be forgotten")
	assert.Empty(t, entries)
	assert.NotNil(t, changed)
}

package index_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/index"
)

func TestEventNames(t *testing.T) {
	assert.Equal(t, "[Added Updated Deleted Unknown]",
		fmt.Sprint([]index.EventType{index.Added, index.Updated, index.Deleted, 9}))
	assert.Equal(t, "[Watched Initial Relisted Resynced Recreated OutOfScope Unknown]",
		fmt.Sprint([]index.Reason{index.Watched, index.Initial, index.Relisted, index.Resynced, index.Recreated, index.OutOfScope, 99}))
}

package lister

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// TestListersFitRegisters: see reads.
func TestListersFitRegisters(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(NamespaceLister[*corev1.Pod]{}), uintptr(32))
}

package reference_test

import (
	"testing"

	"github.com/kubetyped/informer/internal/test/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }

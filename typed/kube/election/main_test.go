package election_test

import (
	"testing"

	"github.com/kubetyped/informer/typed/internal/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }

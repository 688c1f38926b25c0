package conformance

import (
	"os"
	"testing"

	"github.com/kubetyped/informer/e2e/target"
)

// server is what the suites run on.
var server *target.Target

func TestMain(m *testing.M) {
	os.Exit(target.Main(m, &server))
}

package conformance

import (
	"os"
	"testing"

	"github.com/kubetyped/informer/e2e/cluster"
	"github.com/kubetyped/informer/e2e/target"
)

// server is what the suites run on.
var server *target.Target

func TestMain(m *testing.M) {
	os.Exit(target.Main(m, &server,
		// CBOR is what the suites check beside JSON and protobuf; the server has
		// to be told.
		cluster.WithAPIServerFlags("--feature-gates=CBORServingAndStorage=true")))
}

package faults

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/e2e/target"
)

var (
	// server is what the faults happen to.
	server *target.Target

	reportPath = flag.String("report", "", "file whose tables are to be replaced by those of this run")
)

func TestMain(m *testing.M) {
	flag.Parse()
	// The HTTP/2 transport asks after a silent connection every 30 s, for 15 s.
	// Tests have less time.
	for _, name := range []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS"} {
		if err := os.Setenv(name, "2"); err != nil {
			panic(err)
		}
	}
	klog.SetLogger(klog.Logger{}) // requests that fail are what this is about
	code := target.Main(m, &server)
	if *reportPath != "" && code == 0 {
		if err := writeReport(*reportPath); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

package simulated_test

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"

	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	klog.SetLogger(klog.Logger{}) // what processes log is in traces, except informers of factories
	if err := flag.Set("simulation.seeds", seeds); err != nil { // a flag of go test comes after it
		panic(err)
	}
	os.Exit(m.Run())
}

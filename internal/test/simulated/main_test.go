package simulated_test

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"

	"k8s.io/klog/v2"
)

// seeds is how many seeds each suite runs unless a flag says otherwise, as make simulate does.
const seeds = "3"

func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	klog.SetLogger(klog.Logger{})                               // what processes log is in traces, except informers of factories
	if err := flag.Set("simulation.seeds", seeds); err != nil { // flags of go test are parsed later
		panic(err)
	}
	os.Exit(m.Run())
}

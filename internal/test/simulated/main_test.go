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
	flag.Parse()
	klog.SetLogger(klog.Logger{}) // what processes log is in traces, except informers of factories
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "simulation.seeds" })
	if !given {
		if err := flag.Set("simulation.seeds", seeds); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

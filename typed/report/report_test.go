package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCaller(t *testing.T) {
	site := Caller()
	assert.Equal(t, "report/report_test.go:11", site.String()[:len("report/report_test.go:11")], "a test is a user")
	assert.Contains(t, site.Function, "TestCaller")
	assert.Equal(t, "unknown", CallSite{}.String())
}

func TestCallSiteSkipsMakersOfInformers(t *testing.T) {
	for function, ours := range map[string]bool{
		"github.com/kubetyped/informer/typed.NewInformer[...]":                true,
		"github.com/kubetyped/informer/typed/kube.For[...]":                   true,
		"github.com/kubetyped/informer/adapters/informers.kind.newFunc.func1": true,
		"github.com/kubetyped/informer/adapters/tracing/examples/stdout.run":  false,
		"github.com/kubetyped/informer/examples/operate.newProgram":           false,
		"github.com/kubetyped/informerette/typed.New":                         false,
		"main.main": false,
	} {
		assert.Equal(t, ours, isOurs(function, "some.go"), function)
		assert.False(t, isOurs(function, "some_test.go"), function)
	}
}

func TestCallTimes(t *testing.T) {
	var times CallTimes
	for i, bound := range CallBounds {
		times.Add(bound)
		assert.EqualValues(t, 1, times.Counts[i], "a bound is included")
	}
	times.Add(time.Minute + 1)
	assert.EqualValues(t, 1, times.Counts[len(CallBounds)])
	assert.EqualValues(t, len(CallBounds)+1, times.Calls())
}

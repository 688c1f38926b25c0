package typed

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// applied returns what options say, as far as they can be used.
func applied(opts []Option) (c config) {
	for _, opt := range opts {
		if opt != nil {
			_ = opt(&c) // the informer that is made with them returns it
		}
	}
	return c
}

// refuseForAll returns an error if options of a factory can only be those of one
// informer.
func refuseForAll(opts []Option) error {
	c := applied(opts)
	for _, own := range []struct {
		name  string
		given bool
	}{
		{"WithName", c.name != ""},
		{"WithIndexer", c.indexer != nil},
		{"WithMetrics", c.metrics != nil},
		{"WithOnPublished", c.onPublished != nil},
	} {
		if own.given {
			return fmt.Errorf("%s was given to NewFactory, and can only be for one informer: give it to For or Share", own.name)
		}
	}
	return nil
}

// differsIn returns the name of an option in which c differs from other, "" if
// there is none.
func (c *config) differsIn(other *config) string {
	sameStep := func(a, b transformStep) bool { return sameFunction(a.function, b.function) }
	switch {
	case c.name != other.name:
		return "WithName"
	case c.recreated != other.recreated:
		return "WithRecreation"
	case c.changedOnly != other.changedOnly:
		return "WithChangedOnly"
	case c.grace != other.grace:
		return "WithGrace"
	case c.nameless != other.nameless:
		return "WithNameless"
	case c.indexer != other.indexer:
		return "WithIndexer"
	case !sameMetrics(c.metrics, other.metrics):
		return "WithMetrics"
	case !sameFunction(c.metricsFor, other.metricsFor):
		return "WithMetricsFor"
	case !sameFunction(c.onPublished, other.onPublished):
		return "WithOnPublished"
	case !sameFunction(c.onError, other.onError):
		return "WithOnError"
	case !c.detection.same(other.detection):
		return "WithMutationDetection"
	case c.callTimes != other.callTimes || c.slowLimit != other.slowLimit || c.stuckAfter != other.stuckAfter:
		return "WithCallTimes or WithSlowHandlers"
	case c.slowIndexes != other.slowIndexes:
		return "WithSlowIndexes"
	case c.events != other.events:
		return "WithHistory"
	case !c.budget.same(other.budget):
		return "WithBudget"
	case !slices.EqualFunc(c.transforms, other.transforms, sameStep):
		return "WithTransform"
	}
	return ""
}

func sameMetrics(a, b Metrics) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}

// sameFunction reports whether two functions, of any type, are one value: the same
// code, with the same variables. Go compares no functions, and reflect tells of
// their code alone, which is the same for all that one function returns. What an
// interface holds of a function is a pointer to both.
func sameFunction(a, b any) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&a))[1] == (*[2]unsafe.Pointer)(unsafe.Pointer(&b))[1]
}

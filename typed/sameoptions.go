package typed

import (
	"fmt"
	"slices"

	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/observer"
)

// applied returns what options say, as far as they can be used, and an error about the others.
func applied(opts []Option) (c config, err error) {
	err = argument.ApplyOptions(&c, opts)
	return c, err
}

// refuseForAll returns an error if options of a factory can only be those of one
// informer.
func refuseForAll(opts []Option) error {
	c, _ := applied(opts) // the informers that are made with them return the error
	switch {
	case c.name != "":
		return refused("WithName")
	case c.indexer != nil:
		return refused("WithIndexer")
	}
	for _, o := range c.observers {
		if o.Alone() {
			return refused(o.Option())
		}
	}
	return nil
}

func refused(option string) error {
	return fmt.Errorf("%s was given to NewFactory, and can only be for one informer: give it to For or Share", option)
}

// differsIn returns the name of an option in which c differs from other, "" if
// there is none.
func (c *config) differsIn(other *config) string {
	sameStep := func(a, b transformStep) bool { return observer.SameFunction(a.function, b.function) }
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
	case !observer.SameFunction(c.onError, other.onError):
		return "WithOnError"
	case !slices.EqualFunc(c.transforms, other.transforms, sameStep):
		return "WithTransform"
	}
	return observedOtherwise(c.observers, other.observers)
}

// observedOtherwise returns the name of an option by which only one of two is observed, "" if
// there is none.
func observedOtherwise(a, b []observer.Observer) string {
	for _, pair := range [][2][]observer.Observer{{a, b}, {b, a}} {
		for _, o := range pair[0] {
			if !slices.ContainsFunc(pair[1], o.Same) {
				return o.Option()
			}
		}
	}
	return ""
}

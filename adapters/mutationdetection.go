package adapters

import (
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/typed/observe"
)

// mutationDetecting is what informers of this package have.
type mutationDetecting interface {
	detectMutations(period time.Duration, report func(observe.Mutation)) error
}

// DetectMutations enables mutation detection for an informer of this package, like
// observe.WithMutationDetection: it reports the object, the fields, and their values before and
// after. It is for any of them, including those that a factory made, before they are started:
//
//	err := adapters.DetectMutations(factory.Core().V1().Pods().Informer(), time.Minute, report)
//
// client-go's own detector, which the environment variable
// KUBE_CACHE_MUTATION_DETECTOR turns on in these informers as in client-go's, copies
// every object, prints whole ones, and ends the program.
//
// It returns an error if the informer is none of this package, runs already
// (typed.ErrStarted), or if an argument cannot be used.
func DetectMutations(informer cache.SharedInformer, period time.Duration, report func(observe.Mutation)) error {
	own, ok := find[mutationDetecting](informer)
	if !ok {
		return fmt.Errorf("mutations are not detected: the informer, a %T, was not made by this package", informer)
	}
	return own.detectMutations(period, report)
}

func (s *informer[T]) detectMutations(period time.Duration, report func(observe.Mutation)) error {
	if s.packs {
		return fmt.Errorf("%s: mutations are not detected: its objects are kept as bytes (WithPacked), which cannot be modified", s.name)
	}
	return s.typed.Observe(observe.WithMutationDetection(period, report))
}

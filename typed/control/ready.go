package control

import (
	"errors"
	"fmt"

	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
)

// Ready returns nil if all informers are synced, for the readiness probe of a program that
// answers from them. Otherwise the error names each that is not, and why: what its source
// waits for or has failed with (it wraps that), how far its list is, or that it was not started
// or has stopped.
//
// An informer stays synced while its API server is away: reads return the last state. Ready
// does not wait, and may be called at any time.
func Ready(informers ...typed.AnyInformer) error {
	var errs []error
	for _, informer := range informers {
		if argument.IsNil(informer) {
			errs = append(errs, errors.New("Ready: informer is nil"))
			continue
		}
		errs = append(errs, notReady(informer.Status()))
	}
	return errors.Join(errs...)
}

// notReady returns why an informer is not ready, nil if it is.
func notReady(s report.Status) error {
	switch {
	case s.Phase == report.PhaseSynced:
		return nil
	case s.Err != nil:
		return fmt.Errorf("informer %s is not synced: %w", s.Name, s.Err)
	case s.Phase == report.PhaseNew:
		return fmt.Errorf("informer %s was not started", s.Name)
	case s.Phase == report.PhaseStopped:
		return fmt.Errorf("informer %s has stopped", s.Name)
	case s.Received > 0:
		return fmt.Errorf("informer %s is not synced: %d objects are there", s.Name, s.Received)
	}
	return fmt.Errorf("informer %s is not synced: its server has not answered", s.Name)
}

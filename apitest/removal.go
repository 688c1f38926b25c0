package apitest

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/apitest/internal/store"
)

// removal is a delete of one object.
type removal struct {
	collection      *collection
	namespace, name string
	options         metav1.DeleteOptions
	seed            bool // in process: without admission
}

// removed is the result of a removal.
type removed struct {
	object runtime.Object // its present state, or its last
	gone   bool           // it exists no more
}

// remove deletes an object, or marks it deleted while something holds it: finalizers,
// or the grace period of a Pod on a node.
func (s *Server) remove(ctx context.Context, r removal) (removed, error) {
	key := r.collection.key(r.namespace, r.name)
	for {
		present, _ := r.collection.table.Get(key)
		if present == nil {
			return removed{}, apierrors.NewNotFound(r.collection.groupResource(), r.name)
		}
		if !r.seed {
			if err := s.catalog.allowDelete(r.collection, r.name); err != nil {
				return removed{}, err
			}
		}
		if err := r.admit(ctx, s.settings, present.Object); err != nil {
			return removed{}, err
		}
		done, err := r.attempt(key, present)
		if !errors.Is(err, store.ErrChanged) {
			return done, err
		}
		if err := ctx.Err(); err != nil {
			return removed{}, err
		}
	}
}

// attempt deletes or marks the present state. It returns store.ErrChanged if that
// is no longer the present one.
func (r removal) attempt(key string, present *store.Version) (removed, error) {
	if err := r.checkPreconditions(metadataOf(present.Object)); err != nil {
		return removed{}, err
	}
	marked := present.Object.DeepCopyObject()
	next, err := r.mark(marked)
	if err != nil {
		return removed{}, err
	}
	dryRun := isDryRun(r.options.DryRun)
	switch {
	case next == alreadyMarked:
		return removed{object: present.Object}, nil
	case dryRun:
		return removed{object: marked, gone: next != marksOnly}, nil
	case next != deletesNow && !r.collection.equal(present.Object, marked):
		if present, err = r.collection.table.Put(key, present, marked); err != nil {
			return removed{}, err
		}
	}
	if next == marksOnly {
		return removed{object: present.Object}, nil
	}
	gone, err := r.collection.table.Delete(key, present)
	if err != nil {
		return removed{}, err
	}
	return removed{object: gone.Object, gone: true}, nil
}

func (r removal) checkPreconditions(m metav1.Object) error {
	wanted := r.options.Preconditions
	if wanted == nil {
		return nil
	}
	if wanted.UID != nil && *wanted.UID != m.GetUID() {
		return apierrors.NewConflict(r.collection.groupResource(), m.GetName(),
			fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s)", *wanted.UID, m.GetUID()))
	}
	if wanted.ResourceVersion != nil && *wanted.ResourceVersion != m.GetResourceVersion() {
		return apierrors.NewConflict(r.collection.groupResource(), m.GetName(),
			fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s)",
				*wanted.ResourceVersion, m.GetResourceVersion()))
	}
	return nil
}

// step is what a removal does to an object.
type step int

const (
	deletesNow    step = iota // there is nothing to mark
	marksOnly                 // something holds the object
	marksDeletes              // watches see it marked, then deleted
	alreadyMarked             // nothing is left to do but to wait
)

// mark marks an object as this removal has it, and returns what is to be done. The
// rules, and their order, are those of Kubernetes.
func (r removal) mark(obj runtime.Object) (step, error) {
	m := metadataOf(obj)
	if r.collection.terminates {
		if next, ok := r.markNamespace(obj); ok {
			return next, nil
		}
	}
	period, graceful := int64(0), false
	if r.collection.graceful {
		var pending bool
		var err error
		if period, graceful, pending, err = r.markPod(obj, m); err != nil || pending {
			return alreadyMarked, err
		}
	}
	r.propagate(m)
	held := len(m.GetFinalizers()) > 0
	switch {
	case graceful && (held || period > 0):
		return marksOnly, nil
	case graceful:
		return marksDeletes, nil
	case held:
		markNow(m)
		return marksOnly, nil
	default:
		return deletesNow, nil
	}
}

// markPod marks a Pod, or shortens the grace period of one that is marked. It returns
// the period and whether there is one, or that nothing changes the period.
func (r removal) markPod(obj runtime.Object, m metav1.Object) (period int64, graceful, pending bool, err error) {
	asked := r.options.GracePeriodSeconds
	if asked != nil && *asked < 0 {
		asked = new(int64(1))
	}
	since := m.GetDeletionTimestamp()
	if since == nil {
		if period, err = gracePeriod(obj, asked); err != nil {
			return 0, false, false, err
		}
		setDeletion(m, time.Now().Add(time.Duration(period)*time.Second), period)
		if m.GetGeneration() > 0 {
			m.SetGeneration(m.GetGeneration() + 1)
		}
		return period, true, false, nil
	}
	given := ptr.Deref(m.GetDeletionGracePeriodSeconds(), 0)
	switch {
	case given == 0:
		return 0, false, false, nil
	case asked == nil || *asked >= given:
		return 0, false, true, nil
	}
	at := since.Add(time.Duration(*asked-given) * time.Second)
	period = *asked
	if now := time.Now(); at.Before(now) {
		// The period is over, but watches still get an event.
		at, period = now, min(period, 1)
	}
	setDeletion(m, at, period)
	return *asked, true, false, nil
}

// markNow marks an object that nothing but finalizers holds.
func markNow(m metav1.Object) {
	now := time.Now()
	since := m.GetDeletionTimestamp()
	if since == nil && m.GetGeneration() > 0 {
		m.SetGeneration(m.GetGeneration() + 1)
	}
	if since != nil && !since.After(now) {
		now = since.Time
	}
	setDeletion(m, now, 0)
}

func setDeletion(m metav1.Object, at time.Time, period int64) {
	m.SetDeletionTimestamp(new(metav1.NewTime(at).Rfc3339Copy()))
	m.SetDeletionGracePeriodSeconds(&period)
}

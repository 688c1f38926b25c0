package apitest

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Create stores objects without HTTP, in order, with their status, and with the
// UID and creation time they have, if any. The server keeps deep copies, and does
// not modify its arguments: informers have seen all once they have reached
// [Server.ResourceVersion]. Names and namespaces are checked, other metadata is taken
// as it is. The resource is that of the kind which an object names, or else of its Go
// type: one of the scheme, or one that [Resource] has as its Type. A struct that no
// scheme knows is stored as its JSON, as if it had been sent. Create stops at the
// first error, which is an API status as a client would get it (AlreadyExists,
// Invalid), or says that no resource serves the object; what came before is stored.
// Faults do not apply, and requests are not counted.
func (s *Server) Create(ctx context.Context, objs ...Object) error {
	return s.seed(ctx, "create", objs, func(c *collection, m metav1.Object, obj runtime.Object) error {
		_, err := s.create(ctx, creation{collection: c, namespace: m.GetNamespace(), object: obj, seed: true})
		return err
	})
}

// Update replaces objects without HTTP, in order, spec and status together. An
// object without a resource version replaces whatever is there; one with it
// fails with Conflict unless that is the present one. An update that changes
// nothing is no write. Errors are as for Create, NotFound among them.
func (s *Server) Update(ctx context.Context, objs ...Object) error {
	return s.seed(ctx, "update", objs, func(c *collection, m metav1.Object, obj runtime.Object) error {
		_, err := s.update(ctx, update{
			collection: c, namespace: m.GetNamespace(), name: m.GetName(), part: wholePart, seed: true, manager: seeder,
			change: func(runtime.Object) (runtime.Object, error) { return obj.DeepCopyObject(), nil },
		})
		return err
	})
}

// Delete deletes objects without HTTP, in order, by namespace and name alone, and at once, as
// the node of a Pod does when the Pod has stopped; those with finalizers are marked deleted.
// Errors are as for Create, NotFound among them.
func (s *Server) Delete(ctx context.Context, objs ...Object) error {
	return s.seed(ctx, "delete", objs, func(c *collection, m metav1.Object, _ runtime.Object) error {
		_, err := s.remove(ctx, removal{
			collection: c, namespace: m.GetNamespace(), name: m.GetName(), seed: true,
			options: metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), PropagationPolicy: new(metav1.DeletePropagationBackground)},
		})
		return err
	})
}

// seed applies a write to a copy of each object.
func (s *Server) seed(ctx context.Context, verb string, objs []Object, write func(*collection, metav1.Object, runtime.Object) error) error {
	if err := s.home.check(); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	for _, obj := range objs {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := s.catalog.find(obj)
		if err != nil {
			return fmt.Errorf("%s: %w", verb, err)
		}
		own, err := c.adopt(obj)
		if err == nil {
			own, err = c.toStored(own)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", verb, c.groupResource(), err)
		}
		c = c.storage()
		m := metadataOf(own)
		if err := write(c, m, own); err != nil {
			return fmt.Errorf("%s %s %s: %w", verb, c.groupResource(), c.key(m.GetNamespace(), m.GetName()), err)
		}
	}
	return nil
}

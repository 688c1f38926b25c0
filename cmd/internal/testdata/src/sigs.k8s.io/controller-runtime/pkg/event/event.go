// Package event is a stub.
package event

import "sigs.k8s.io/controller-runtime/pkg/client"

type CreateEvent struct{ Object client.Object }

type UpdateEvent struct{ ObjectOld, ObjectNew client.Object }

type DeleteEvent struct{ Object client.Object }

type GenericEvent struct{ Object client.Object }

package source

import (
	"github.com/kubetyped/informer/index"
)

// Map returns a source of what project makes of the objects of src, so that an
// informer keeps only what is needed of them:
//
//	type podNode struct{ namespace, name, node string }
//
//	source.Map(kube.FromClient(client.CoreV1().Pods("")), func(p *corev1.Pod) podNode {
//		return podNode{p.Namespace, p.Name, p.Spec.NodeName}
//	})
//
// project is called once for each object that is received, as soon as it is
// there: of a list that is streamed, no object is kept longer than that. For a
// deletion, it is given the last state that the server sent.
//
// The projection must have the name and the namespace of its object, and must
// not be nil; otherwise the object is rejected, see RejectedError. So the key of an
// object is that of its projection, and an object whose last state cannot be
// projected is deleted by it. The projection should not
// refer to the object, which would then be kept alive. It needs no resource
// version, since reports bring their own. project is called by one goroutine for
// each watch of src.
//
// An update that leaves the projection equal is still an update: all of src's reports are
// passed on.
//
// If src or project is nil, typed.Informer.Run returns an error.
func Map[A, B index.Object](src Source[A], project func(obj A) B) Source[B] {
	if project == nil {
		return FilterMap[A, B](src, nil)
	}
	return FilterMap(src, func(obj A) (B, bool) { return project(obj), true })
}

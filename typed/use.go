package typed

import "github.com/kubetyped/informer/index"

// Use returns a use of an informer that its owner runs. Release ends the use, with its
// handlers, and not the informer.
func Use[T index.Object](informer *Informer[T]) *SharedInformer[T] {
	return newSharedInformer(informer, func() {})
}

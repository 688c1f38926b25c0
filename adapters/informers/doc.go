// Package informers is client-go's package of that name, with informers that
// stand on the typed core. A program changes over with its import:
//
//	import "k8s.io/client-go/informers"
//
// becomes
//
//	import "github.com/kubetyped/informer/adapters/informers"
//
// in the file that makes the factory. The factory is an
// [k8s.io/client-go/informers.SharedInformerFactory]; all other files, and those
// who are handed it, can stay as they are.
//
// The informers are those of adapters.NewSharedIndexInformer: they behave as client-go's,
// except for what docs/how-to/adopt-client-go.md lists.
package informers

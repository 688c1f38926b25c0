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
// [k8s.io/client-go/informers.SharedInformerFactory]; all other files, and code that receives
// the factory, can stay as they are.
//
// The informers are those of adapters.NewSharedIndexInformer: they behave as client-go's,
// except for what docs/reference/differences.md lists. They make the requests of the clientset,
// ask for protobuf or else JSON, and decode the responses themselves. Without
// deduplication, objects share only strings, which no program can modify. Objects of fake
// clientsets are not decoded.
package informers

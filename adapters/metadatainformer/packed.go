package metadatainformer

import "k8s.io/apimachinery/pkg/runtime/schema"

// WithPacked keeps objects as bytes, which means what it does in package informers: those of the
// resources, or all without any. The client's requests have to be made by a
// kube.DecodingTransport:
//
//	config.Wrap(kube.DecodingTransport) // before metadata.NewForConfig(config)
//
// Otherwise objects are kept whole, as without the option, and utilruntime.HandleError is told
// so once for each informer. It takes the place of WithDeduplication for these resources.
func WithPacked(resources ...schema.GroupVersionResource) SharedInformerOption {
	return func(o *options) { o.packed.Pack(resources...) }
}

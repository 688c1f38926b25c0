//go:build !race

package generic

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
)

// newScheme returns a scheme of k8s.io/api in which the kinds that are served
// are their own internal version. The generic server works on internal versions
// of objects, and has nothing to convert where they are the same Go type.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := kubescheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("make scheme: %w", err)
	}
	for _, r := range resources {
		internal := schema.GroupVersion{Group: r.version.Group, Version: runtime.APIVersionInternal}
		for _, kind := range []string{r.kind, r.listKind()} {
			obj, err := scheme.New(r.version.WithKind(kind))
			if err != nil {
				return nil, fmt.Errorf("make scheme: %w", err)
			}
			scheme.AddKnownTypeWithName(internal.WithKind(kind), obj)
		}
		if err := scheme.AddFieldLabelConversionFunc(r.version.WithKind(r.kind), r.selectable); err != nil {
			return nil, fmt.Errorf("make scheme: %w", err)
		}
	}
	return scheme, nil
}

// newStorageCodec returns the encoding of objects in etcd, which is protobuf, as that of
// kube-apiserver. It decodes into the internal version, which does not name the kind. Otherwise
// the items of every list would name it.
func newStorageCodec(scheme *runtime.Scheme) runtime.Codec {
	codecs := serializer.NewCodecFactory(scheme)
	var versions schema.GroupVersions
	for _, r := range resources {
		versions = append(versions, r.version)
	}
	return codecs.CodecForVersions(
		protobuf.NewSerializer(scheme, scheme),
		runtime.WithoutVersionDecoder{Decoder: codecs.UniversalDeserializer()},
		versions, runtime.InternalGroupVersioner)
}

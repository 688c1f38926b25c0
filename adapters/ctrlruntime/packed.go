package ctrlruntime

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// WithPacked keeps objects as the bytes that the server sent: those of the kinds and Go types of the
// examples, or all without any. A Pod takes a kilobyte instead of fifteen, an unstructured one
// instead of fifty. It is for kinds with many objects, of which programs read few:
//
//		options.NewCache = ctrlruntime.NewCache(ctrlruntime.WithPacked(&corev1.Pod{}, &corev1.Secret{}))
//
//	 1. Get and List decode into the caller's objects, which takes as long as a deep copy, or two
//	    from JSON. List decodes the objects that its selectors select. With namespaces in
//	    DefaultNamespaces or ByObject, List decodes all objects, and both copy.
//	 2. Handlers, predicates and index functions get decoded objects. A ring keeps the last 8 MiB of
//	    them. They must not be modified. A modification by mistake ends when the object leaves the
//	    ring.
//	 3. An object that cannot be decoded when it arrives is an error of the watch, as without the
//	    option. If decoding fails later, Get and List return an error with the key.
//
// ForAllKinds and WithDeduplication do nothing for such kinds. It is an error if such a kind has a
// transform, or if ForKind, Typed or WithReferences names it.
func WithPacked(examples ...client.Object) CacheOption {
	return func(s *settings) error {
		s.packed.all = s.packed.all || len(examples) == 0
		for _, example := range examples {
			kind, err := s.kindOfExample("WithPacked", example)
			if err != nil {
				return err
			}
			if s.packed.kinds == nil {
				s.packed.kinds = map[kindOf]bool{}
			}
			s.packed.kinds[s.formOf(example, kind)] = true
		}
		return nil
	}
}

// packedKinds are the kinds that are kept as bytes.
type packedKinds struct {
	all   bool
	kinds map[kindOf]bool
	reads map[schema.GroupVersionKind]packedReads // that of an empty kind is the default
}

// packedReads is how controller-runtime's cache reads a kind.
type packedReads struct {
	uncopied   bool // it returns no copies, and so does not set their kind
	namespaces bool // there is a cache for each of some namespaces, and an error for others
}

// noteReads notes how controller-runtime's cache reads kinds.
func (p *packedKinds) noteReads(o *cache.Options, scheme *runtime.Scheme) error {
	all := packedReads{ptr.Deref(o.DefaultUnsafeDisableDeepCopy, false), len(o.DefaultNamespaces) > 0}
	p.reads = map[schema.GroupVersionKind]packedReads{{}: all}
	for obj, by := range o.ByObject {
		kind, err := apiutil.GVKForObject(obj, scheme)
		if err != nil {
			return err
		}
		reads := packedReads{ptr.Deref(by.UnsafeDisableDeepCopy, all.uncopied), all.namespaces}
		if by.Namespaces != nil {
			reads.namespaces = len(by.Namespaces) > 0
		}
		p.reads[kind] = reads
	}
	return nil
}

// packs reports whether objects of a kind, in the form of an example, are kept as bytes.
func (s *settings) packs(example runtime.Object, kind schema.GroupVersionKind) bool {
	return s.packed.all || s.packed.kinds[s.formOf(example, kind)]
}

// packsAny reports whether objects of a kind are kept as bytes in any form.
func (s *settings) packsAny(kind schema.GroupVersionKind) bool {
	return s.packed.all || s.packed.kinds[kindOf{kind: kind}] || s.packed.kinds[kindOf{unstructuredType, kind}] || s.packed.kinds[kindOf{metadataType, kind}]
}

// checkPacked returns an error if options exclude WithPacked.
func (s *settings) checkPacked(o *cache.Options) error {
	if !s.packed.all && len(s.packed.kinds) == 0 {
		return nil
	}
	if s.packed.all && len(s.all) > 0 {
		return errors.New("WithPacked of all kinds and ForAllKinds exclude each other: name kinds in WithPacked")
	}
	for of := range s.kinds {
		if s.packs(reflect.New(of.of.Elem()).Interface().(runtime.Object), of.kind) {
			return fmt.Errorf("WithPacked and ForKind of %v exclude each other: name it in one of the two", of.of)
		}
	}
	for of := range s.typed {
		example, _ := reflect.New(of.Elem()).Interface().(client.Object)
		if kind, err := apiutil.GVKForObject(example, s.scheme); err == nil && s.packs(example, kind) {
			return fmt.Errorf("WithPacked and Typed of %v exclude each other: name it in one of the two", of)
		}
	}
	return errors.Join(s.checkTransforms(o), s.packed.noteReads(o, s.scheme))
}

// checkTransforms returns an error if a kind that is kept as bytes has a transform.
func (s *settings) checkTransforms(o *cache.Options) error {
	own := map[schema.GroupVersionKind]bool{} // kinds with a transform in ByObject
	for obj, by := range o.ByObject {
		kind, err := apiutil.GVKForObject(obj, s.scheme)
		if err != nil {
			return err
		}
		own[kind] = by.Transform != nil
		transformed := by.Transform != nil || hasTransform(by.Namespaces)
		if transformed && s.packsAny(kind) {
			return errTransformed(fmt.Sprintf("a transform of %T in ByObject", obj))
		}
	}
	if o.DefaultTransform == nil && !hasTransform(o.DefaultNamespaces) {
		return nil
	}
	if s.packed.all {
		return errTransformed("DefaultTransform, or one of DefaultNamespaces,")
	}
	for of := range s.packed.kinds {
		if !own[of.kind] {
			return errTransformed(fmt.Sprintf("DefaultTransform, or one of DefaultNamespaces, which is for %s, too,", of.kind.Kind))
		}
	}
	return nil
}

func errTransformed(what string) error {
	return fmt.Errorf("WithPacked and %s exclude each other, because it would be lost when an object is decoded again: leave it out, or name other kinds in WithPacked", what)
}

func hasTransform(namespaces map[string]cache.Config) bool {
	for _, config := range namespaces {
		if config.Transform != nil {
			return true
		}
	}
	return false
}

// addPacked notes the informer of a kind that is kept as bytes.
func (c *managerCache) addPacked(of kindOf, informer toolscache.SharedIndexInformer) {
	reader, ok := informer.GetIndexer().(freshReader)
	namespaced, err := apiutil.IsGVKNamespaced(of.kind, c.mapper)
	reads := ofKind(c.packed.reads, of.kind)
	if !ok || err != nil || reads.namespaces {
		return // controller-runtime reads it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.packedReaders[of] = append(c.packedReaders[of], &packedReader{reader, informer.HasSynced, of.kind, namespaced, reads.uncopied})
}

// packedReader returns what reads the objects of a kind that is kept as bytes, nil if controller-
// runtime does: of several informers, and of one that has not synced, for which it waits.
func (c *managerCache) packedReader(of runtime.Object) *packedReader {
	kind, err := c.kindOf(of)
	if err != nil || !c.packsAny(kind.kind) {
		return nil
	}
	c.mu.Lock()
	readers := c.packedReaders[kind]
	c.mu.Unlock()
	if len(readers) != 1 || !readers[0].synced() {
		return nil
	}
	return readers[0]
}

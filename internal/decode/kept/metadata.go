package kept

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var _ Whole = (*Object)(nil)

// whole returns the decoded object for those who ask for more than is beside the bytes, an empty
// one if it cannot be decoded.
func (o *Object) whole() Whole {
	whole, err := o.Whole()
	if err != nil {
		return &metav1.PartialObjectMetadata{}
	}
	return whole
}

// These are what metav1.Object has besides: they decode the object.

func (o *Object) GetUID() types.UID                  { return o.whole().GetUID() }
func (o *Object) GetGenerateName() string            { return o.whole().GetGenerateName() }
func (o *Object) GetGeneration() int64               { return o.whole().GetGeneration() }
func (o *Object) GetSelfLink() string                { return o.whole().GetSelfLink() }
func (o *Object) GetCreationTimestamp() metav1.Time  { return o.whole().GetCreationTimestamp() }
func (o *Object) GetDeletionTimestamp() *metav1.Time { return o.whole().GetDeletionTimestamp() }
func (o *Object) GetDeletionGracePeriodSeconds() *int64 {
	return o.whole().GetDeletionGracePeriodSeconds()
}
func (o *Object) GetLabels() map[string]string                { return o.whole().GetLabels() }
func (o *Object) GetAnnotations() map[string]string           { return o.whole().GetAnnotations() }
func (o *Object) GetFinalizers() []string                     { return o.whole().GetFinalizers() }
func (o *Object) GetOwnerReferences() []metav1.OwnerReference { return o.whole().GetOwnerReferences() }
func (o *Object) GetManagedFields() []metav1.ManagedFieldsEntry {
	return o.whole().GetManagedFields()
}

// What is kept cannot be modified: these change nothing.

func (*Object) SetNamespace(string)                          {}
func (*Object) SetName(string)                               {}
func (*Object) SetGenerateName(string)                       {}
func (*Object) SetUID(types.UID)                             {}
func (*Object) SetResourceVersion(string)                    {}
func (*Object) SetGeneration(int64)                          {}
func (*Object) SetSelfLink(string)                           {}
func (*Object) SetCreationTimestamp(metav1.Time)             {}
func (*Object) SetDeletionTimestamp(*metav1.Time)            {}
func (*Object) SetDeletionGracePeriodSeconds(*int64)         {}
func (*Object) SetLabels(map[string]string)                  {}
func (*Object) SetAnnotations(map[string]string)             {}
func (*Object) SetFinalizers([]string)                       {}
func (*Object) SetOwnerReferences([]metav1.OwnerReference)   {}
func (*Object) SetManagedFields([]metav1.ManagedFieldsEntry) {}

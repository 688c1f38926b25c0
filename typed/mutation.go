package typed

import (
	"fmt"
	"strings"

	"github.com/kubetyped/informer/index"
)

// Mutation is a modification of an object in an informer's store, which all other readers see,
// too. See WithMutationDetection.
type Mutation struct {
	// Informer is the name of the informer.
	Informer string
	// Key is the object's, as it was when the object came.
	Key index.Key
	// ResourceVersion is the version that the object came with, if it has one.
	ResourceVersion string
	// Fields are what was modified, the first 16 if there are more; at least one.
	Fields []ModifiedField
}

// ModifiedField is a field that was modified.
type ModifiedField struct {
	// Path is the field's, by names as in JSON, with indexes and keys in brackets:
	// metadata.labels[app] or spec.containers[0].image.
	Path string
	// Old and New are the received value and the value found, as text of up to about 200
	// bytes: strings in quotes, "nil", and "none" for what a map has not.
	Old, New string
}

// String returns all of it in a line, such as
//
//	informer pods: object shop/web-0 was modified: metadata.labels[app] was "web", is "mine"
func (m Mutation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "informer %s: object %s was modified: ", m.Informer, m.Key)
	for i, f := range m.Fields {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s was %s, is %s", f.Path, f.Old, f.New)
	}
	return b.String()
}

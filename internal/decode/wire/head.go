package wire

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Head is what a list has besides its items.
type Head struct {
	metav1.TypeMeta
	metav1.ListMeta
}

// checkList returns an error if a response, which may have had items, is no list. A
// list without items may leave them out; that it is one shows in its kind.
func (h *Head) checkList(hasItems bool) error {
	if hasItems || strings.HasSuffix(h.Kind, "List") {
		return nil
	}
	return fmt.Errorf("not a list, but a %s of %s without items", h.Kind, h.APIVersion)
}

// Items are the items of a list, each a frame.
type Items interface {
	Frames
	// Head returns what has come so far of the rest of the list; all of it
	// after Next has returned io.EOF.
	Head() *Head
}

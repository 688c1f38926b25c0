package wire

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Head is what a list has besides its items.
type Head struct {
	metav1.TypeMeta
	metav1.ListMeta
}

// Items are the items of a list, each a frame.
type Items interface {
	Frames
	// Head returns what has come so far of the rest of the list; all of it
	// after Next has returned io.EOF.
	Head() *Head
}

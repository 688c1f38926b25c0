package listwatch

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/internal/answers"
	"github.com/kubetyped/informer/typed/kube"
)

// Writing is a ListerWatcher whose informer takes what own writes were answered.
type Writing struct {
	cache.ListerWatcher

	Answers *answers.Answers
	Decode  answers.Decode[metav1.Object]
	Partial bool // objects are metadata alone
	// Refuse returns an error for a handler that must not be added; nil: there is none.
	Refuse func(handler any) error
}

// NewWriting returns what lists and watches by lw, and takes answers to own writes of a kind,
// see kube.Writes.AnswerDecoder. The type of example must be one of client-go's.
func NewWriting(lw cache.ListerWatcher, writes *kube.Writes, example runtime.Object, kind schema.GroupVersionKind) *Writing {
	decode, err := writes.AnswerDecoder(example, kind)
	if err != nil {
		panic(err) // client-go's types can be decoded
	}
	_, partial := example.(*metav1.PartialObjectMetadata)
	return &Writing{ListerWatcher: lw, Answers: writes.Answers(), Decode: decode, Partial: partial}
}

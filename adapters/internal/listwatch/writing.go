package listwatch

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/internal/answers"
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

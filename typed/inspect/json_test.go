package inspect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// unencodable is an informer whose objects panic when they are encoded.
type unencodable struct{ typed.AnyInformer }

func (unencodable) ObjectJSON(index.Key) ([]byte, error) { panic("as the test wants it") }

// TestPanicOfAnObject: a panic of a method that encodes an object is an error of that object.
func TestPanicOfAnObject(t *testing.T) {
	handlers := utilruntime.PanicHandlers
	utilruntime.PanicHandlers = nil
	t.Cleanup(func() { utilruntime.PanicHandlers = handlers })
	text, err := jsonOf(unencodable{}, index.Key{Name: "a"})
	assert.Nil(t, text)
	assert.EqualError(t, err, "the object cannot be encoded: as the test wants it")
}

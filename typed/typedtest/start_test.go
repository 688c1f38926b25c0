package typedtest_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/typed/typedtest"
)

// failing is a test whose failures are noted.
type failing struct {
	*testing.T
	failed string
}

func (f *failing) Fatalf(format string, args ...any) { f.failed = fmt.Sprintf(format, args...) }

func TestStartNoticesWhereItsTestIs(t *testing.T) {
	outside, inside := &failing{T: t}, &failing{}
	synctest.Test(t, func(t *testing.T) {
		inside.T = t
		assert.Nil(t, typedtest.Start(outside))
		assert.NotNil(t, typedtest.Start(&failing{T: t}))
	})
	assert.Contains(t, outside.failed, "call typedtest.Start with the t that synctest.Test gives to its function")
	assert.NotNil(t, typedtest.Start(&failing{T: t}))
	assert.Nil(t, typedtest.Start(inside))
	assert.Contains(t, inside.failed, "call typedtest.Start in the function that synctest.Test calls")
}

package apitest_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/apitest"
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
		assert.Nil(t, apitest.Start(outside))
		assert.NotNil(t, apitest.Start(&failing{T: t}))
	})
	assert.Contains(t, outside.failed, "call apitest.Start with the t that synctest.Test gives to its function")
	assert.NotNil(t, apitest.Start(&failing{T: t}))
	assert.Nil(t, apitest.Start(inside))
	assert.Contains(t, inside.failed, "call apitest.Start in the function that synctest.Test calls")
}

package views

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestViewsGiveTheSame(t *testing.T) { Check(t, Typed(), TypedSet(), ByHand()) }

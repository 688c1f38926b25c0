package loglimit

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// lines is a log of a Group, with the seconds since it began.
func lines(begun time.Time, into *[]string) func(Summary) {
	return func(s Summary) {
		*into = append(*into, fmt.Sprintf("%v: %v fail (%v), %v recovered", time.Since(begun), s.Failing, s.Err, s.Recovered))
	}
}

// group runs a test in virtual time with a Group, and compares what was logged.
func group(t *testing.T, run func(g *Group), want ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		g := NewGroup(lines(time.Now(), &got))
		run(g)
		g.End()
		assert.Equal(t, want, got)
	})
}

var errDown = errors.New("down")

func TestGroupHasOneLineForAll(t *testing.T) {
	group(t, func(g *Group) {
		g.Fail("a", errDown)
		time.Sleep(time.Millisecond)
		g.Fail("b", errors.New("gone"))
		time.Sleep(2 * time.Second)
		g.Fail("c", errDown)
		time.Sleep(10 * time.Second)
		g.Fail("d", errDown)
		time.Sleep(time.Minute)
	}, "1s: [a b] fail (down), [] recovered", "1m1s: [a b c d] fail (down), [] recovered")
}

func TestGroupLogsMoreAndMoreSeldom(t *testing.T) {
	var want []string
	for _, at := range []string{"1s", "1m1s", "3m1s", "7m1s", "15m1s", "25m1s", "35m1s"} {
		want = append(want, at+": [a] fail (down), [] recovered")
	}
	group(t, func(g *Group) {
		for range 40 * 60 {
			g.Fail("a", errDown)
			time.Sleep(time.Second)
		}
	}, want...)
}

func TestGroupLogsRecovery(t *testing.T) {
	group(t, func(g *Group) {
		g.Fail("a", errDown)
		g.Fail("b", errDown)
		g.Fail("unseen", errDown)
		g.Work("unseen")
		time.Sleep(2 * time.Minute)
		g.Work("a")
		time.Sleep(9 * time.Second)
		g.Fail("a", errDown) // a list worked, and the watch after it did not
		g.Work("b")
		time.Sleep(2 * time.Minute)
		g.Work("a")
		time.Sleep(time.Minute)
	},
		"1s: [a b] fail (down), [] recovered",
		"1m1s: [a b] fail (down), [] recovered",
		"2m19s: [a] fail (down), [b] recovered",
		"4m19s: [] fail (<nil>), [a] recovered",
	)
}

func TestGroupForgets(t *testing.T) {
	group(t, func(g *Group) {
		g.Fail("a", errDown)
		g.Forget("a")
		time.Sleep(time.Hour)
		g.Fail("b", errDown)
	})
}

func TestGroupAfterItsEnd(t *testing.T) {
	group(t, func(g *Group) {
		g.End()
		g.Fail("a", errDown)
		time.Sleep(time.Hour)
	})
}

func TestGroupContainsPanics(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		g := NewGroup(func(Summary) {
			calls++
			panic("the logger panics")
		})
		g.Fail("a", errDown)
		time.Sleep(time.Minute)
		g.Fail("b", errDown)
		time.Sleep(time.Minute)
		g.End()
		assert.Equal(t, 2, calls)
	})
}

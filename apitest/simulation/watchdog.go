package simulation

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/kubetyped/informer/apitest/internal/bubble"
)

// watch ends the program, with an explanation, when nothing has happened in a simulation
// for long, of real time. It runs outside of the bubble.
func watch(seed uint64, watched *atomic.Pointer[world], ended <-chan struct{}) {
	tick := time.NewTicker(*stuck / 10)
	defer tick.Stop()
	before, same := uint64(0), 0
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		w := watched.Load()
		if w == nil {
			continue
		}
		steps := w.steps.Load()
		if steps != before {
			before, same = steps, 0
			continue
		}
		if same++; same == 10 {
			panic(fmt.Sprintf("simulation: seed %d: nothing has happened for %v. The clock of a simulation stands still while a goroutine of it "+
				"computes, or waits for something outside: a socket, a file, a process, a lock or channel that was made before the simulation. "+
				"Make everything in the function that Start is given, of the configuration that it gets. These goroutines keep the clock from going on:\n\n%s",
				seed, *stuck, restless()))
		}
	}
}

// leftovers returns an error with the goroutines that processes have left behind in the
// bubble, nil if there are none. testing/synctest ends the program because of them.
func leftovers() error {
	time.Sleep(time.Hour) // of virtual time: what is about to end ends
	synctest.Wait()
	stacks := bubbleStacks()
	if len(stacks) == 0 {
		return nil
	}
	err := fmt.Errorf("goroutines are left: run must wait for those that it starts:\n\n%s", stacks)
	_, _ = fmt.Fprintln(os.Stderr, "simulation:", err)
	return err
}

// allStacks returns the traces of all goroutines, one each.
func allStacks() [][]byte {
	buf := make([]byte, 1<<16)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			return bytes.Split(buf[:n], []byte("\n\n"))
		}
		buf = make([]byte, 2*len(buf))
	}
}

// bubbleStacks returns the traces of the other goroutines in the bubble of the caller.
func bubbleStacks() []byte {
	all := allStacks()
	mine := bubble.Of(all[0]) // the caller's is the first
	return bytes.Join(slices.DeleteFunc(all[1:], func(s []byte) bool {
		return bubble.Of(s) != mine || bytes.Contains(s, []byte("testing/synctest.Test")) || bytes.Contains(s, []byte("internal/synctest.Run"))
	}), []byte("\n\n"))
}

// restless returns the traces of goroutines in bubbles that keep their clocks from advancing.
func restless() []byte {
	return bytes.Join(slices.DeleteFunc(allStacks(), func(s []byte) bool {
		head, _, _ := bytes.Cut(s, []byte("\n"))
		return bubble.Of(s) == 0 || bytes.Contains(head, []byte("(durable)"))
	}), []byte("\n\n"))
}

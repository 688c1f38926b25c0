// Package bubble finds the bubble of testing/synctest in which a goroutine runs.
package bubble

import (
	"bytes"
	"runtime"
	"strconv"
)

// ID is the bubble of a goroutine, 0 outside of any. No two bubbles of a process
// have the same.
type ID uint64

// mark comes before the number of the bubble in the first line of the stack trace of a
// goroutine. testing/synctest has no function that returns the bubble; Go's own documentation
// of it refers to these traces.
const mark = ", synctest bubble "

// Current returns the bubble of the calling goroutine. It takes two microseconds. The trace is
// that of a new goroutine, which is in the same bubble and has a short stack: runtime.Stack walks
// the whole stack even for its first line.
func Current() ID {
	id := make(chan ID)
	go func() {
		var buf [96]byte
		id <- Of(buf[:runtime.Stack(buf[:], false)])
	}()
	return <-id
}

// Of returns the bubble of the goroutine with a stack trace.
func Of(stack []byte) ID {
	line, _, _ := bytes.Cut(stack, []byte("\n"))
	_, number, found := bytes.Cut(line, []byte(mark))
	if !found {
		return 0
	}
	number, _, _ = bytes.Cut(number, []byte("]"))
	id, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		return 0
	}
	return ID(id)
}

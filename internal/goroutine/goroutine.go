// Package goroutine identifies goroutines, looks at what one of them does, and contains the
// panics of functions that they call.
package goroutine

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
)

// ID returns the number of the calling goroutine. Go has no call for it on purpose, since it
// is mostly misused. Here it answers two questions that nothing else can: whether a call waits
// for a handler from within a call of it, and where a handler hangs. The number stands in the
// first line of a stack trace, "goroutine 18 [running]:", as debug.PrintStack prints it.
func ID() uint64 {
	var buf [64]byte
	line := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(line, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0 // no goroutine has this number
	}
	return id
}

// maxStacks is how much room the stacks of all goroutines get.
const maxStacks = 16 << 20

// Stack returns the stack of a goroutine by its number, "" if it has ended, or its stack is
// not among the first 16 MiB of those of all. The program stands still meanwhile, some
// microseconds for each goroutine.
func Stack(id uint64) string {
	for size := 64 << 10; ; size *= 4 {
		buf := make([]byte, size)
		n := runtime.Stack(buf, true)
		if n == size && size < maxStacks {
			continue
		}
		for stack := range bytes.SplitSeq(buf[:n], []byte("\n\n")) {
			if bytes.HasPrefix(stack, fmt.Appendf(nil, "goroutine %d [", id)) {
				return string(bytes.TrimSpace(stack))
			}
		}
		return ""
	}
}

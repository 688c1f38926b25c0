package typed

import (
	"bytes"
	"runtime"
	"strconv"
)

// goroutineID returns the number of the calling goroutine. Go has no call for
// it on purpose, since it is mostly misused. Here it answers one question that
// nothing else can: whether Registration.Close is called by the very handler
// that it would wait for. The number stands in the first line of a stack
// trace, "goroutine 18 [running]:", as debug.PrintStack prints it.
func goroutineID() uint64 {
	var buf [64]byte
	line := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(line, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0 // no goroutine has this number: Close waits
	}
	return id
}

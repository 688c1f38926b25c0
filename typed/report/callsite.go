package report

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// CallSite is a line of a program. The zero CallSite is an unknown one.
type CallSite struct {
	// Function is the name of the function with its package, as in stack traces.
	Function string
	// File is the path of the source file as the compiler was given it.
	File string
	Line int
}

// String returns the last two parts of the path, and the line, such as
// "manager/manager.go:45"; "unknown" if there is none.
func (c CallSite) String() string {
	if c.File == "" {
		return "unknown"
	}
	folder, file := filepath.Split(c.File)
	return fmt.Sprintf("%s:%d", filepath.Join(filepath.Base(folder), file), c.Line)
}

// module begins the names of the functions of this module.
const module = "github.com/kubetyped/informer/"

// Caller returns the first call on the way to it that is not made by one of the packages
// of this module which make informers for others. It costs about a microsecond.
func Caller() CallSite {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !isOurs(frame.Function, frame.File) {
			return CallSite{Function: frame.Function, File: frame.File, Line: frame.Line}
		}
		if !more {
			return CallSite{}
		}
	}
}

// isOurs reports whether a function is one that makes informers for others. Tests are
// users, wherever they are.
func isOurs(function, file string) bool {
	rest, ok := strings.CutPrefix(function, module)
	if !ok || strings.HasSuffix(file, "_test.go") {
		return false
	}
	if end := strings.LastIndexByte(rest, '/'); end >= 0 {
		name, _, _ := strings.Cut(rest[end:], ".")
		rest = rest[:end] + name
	} else {
		rest, _, _ = strings.Cut(rest, ".")
	}
	for _, room := range []string{"typed", "adapters", "internal"} {
		if rest == room || strings.HasPrefix(rest, room+"/") {
			return !strings.Contains(rest, "/examples/")
		}
	}
	return false
}

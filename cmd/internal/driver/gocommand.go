package driver

import (
	"context"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"
)

// Run is the main function of a tool.
func Run(tool Tool) {
	if calledByGo(os.Args[1:]) {
		unitchecker.Main(tool.Analyzers...)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := Main(ctx, tool, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// calledByGo reports whether the go command runs the program, for go vet -vettool or go
// fix -fixtool.
func calledByGo(args []string) bool {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-V") || arg == "-flags" || strings.HasSuffix(arg, ".cfg") {
			return true
		}
	}
	return false
}

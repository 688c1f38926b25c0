// Informervet checks programs with informers of client-go, controller-runtime or
// github.com/kubetyped/informer: above all, that they do not write to objects of a cache.
//
//	informervet ./...
//	go vet -vettool=$(which informervet) ./...
//	informervet help
package main

import (
	"context"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/kubetyped/informer/cmd/internal/driver"
	"github.com/kubetyped/informer/cmd/internal/vet"
)

func main() {
	if calledByGo(os.Args[1:]) {
		unitchecker.Main(vet.Analyzers...)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := driver.Main(ctx, vet.Analyzers, os.Args[1:], os.Stdout, os.Stderr)
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

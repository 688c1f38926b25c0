package rules

import (
	"go/types"
	"slices"
	"strings"

	"github.com/kubetyped/informer/cmd/internal/kube"

	"go/ast"
)

var blockingHandler = rule("blockinghandler", `find handlers of informers that wait

The calls of a handler follow one another: while one waits, events pile up behind it. Put
the key into a work queue, and wait in a worker. With -blockinghandler.writes, requests
that write to the API server are found, too.

Wrong:

	AddFunc: func(obj any) { time.Sleep(time.Second); c.sync(obj) }

Right:

	AddFunc: func(obj any) { c.queue.AddAfter(key(obj), time.Second) }`, func(c *checker) {
	c.handlers(func(fn function, _ bool) {
		calledNow(fn.body, func(call *ast.CallExpr) {
			f := c.called(call)
			switch {
			case f == nil || f.Pkg() == nil:
			case kube.IsFunc(f, "time", "Sleep"), isPoll(f):
				c.report(call, f.Pkg().Name()+"."+f.Name()+" in a handler holds up all events after this one: use a work queue")
			case handlerWrites && isRequest(f):
				c.report(call, "a request to the API server in a handler holds up all events after this one: use a work queue")
			}
		})
	})
})

var handlerWrites bool

func init() {
	blockingHandler.Flags.BoolVar(&handlerWrites, "writes", false, "find requests that write to the API server in handlers, too")
}

func isPoll(f *types.Func) bool {
	return kube.PackagePath(f.Pkg()) == "k8s.io/apimachinery/pkg/util/wait" &&
		(strings.HasPrefix(f.Name(), "Poll") || strings.HasPrefix(f.Name(), "ExponentialBackoff"))
}

// isRequest reports whether a method of a client writes to the API server.
func isRequest(f *types.Func) bool {
	params := f.Signature().Params()
	if f.Signature().Recv() == nil || params.Len() == 0 || !kube.IsType(params.At(0).Type(), "context", "Context") {
		return false
	}
	path := kube.PackagePath(f.Pkg())
	return (path == kube.Client || strings.HasPrefix(path, "k8s.io/client-go/kubernetes/typed/") || path == "k8s.io/client-go/dynamic") &&
		slices.Contains([]string{"Create", "Update", "UpdateStatus", "Patch", "Delete", "DeleteCollection", "Apply"}, f.Name())
}

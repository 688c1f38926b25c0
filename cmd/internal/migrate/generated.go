package migrate

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// generated reports factories that informer-gen has made for other APIs: their informers are
// client-go's until adapters.Serve replaces them.
func (p *program) generated(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, _ := typeutil.Callee(p.TypesInfo, call).(*types.Func)
		if f != nil && f.Pkg() != nil && f.Pkg() != p.Pkg && makesFactory(f) {
			p.leaves(call, "factory", &stays{call.Pos(), "informer-gen has made it: call adapters.Serve with it for each type, before the first use"})
		}
		return true
	})
}

// makesFactory reports whether a function is the constructor of a generated factory that no package
// of the adapters replaces.
func makesFactory(f *types.Func) bool {
	path, results := f.Pkg().Path(), f.Signature().Results()
	if !strings.HasPrefix(f.Name(), "New") || results.Len() != 1 || factoryPaths[path] != "" || strings.HasPrefix(path, adaptersPath) {
		return false
	}
	result, ok := results.At(0).Type().(*types.Named)
	if !ok || result.Obj().Name() != "SharedInformerFactory" || !types.IsInterface(result) {
		return false
	}
	method, _, _ := types.LookupFieldOrMethod(result, false, f.Pkg(), "InformerFor")
	return method != nil
}

// serves reports whether the package calls adapters.Serve.
func (p *program) serves() bool {
	for _, object := range p.TypesInfo.Uses {
		if f, ok := object.(*types.Func); ok && f.Pkg() != nil && f.Pkg().Path() == adaptersPath && f.Name() == "Serve" {
			return true
		}
	}
	return false
}

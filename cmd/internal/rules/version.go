package rules

import (
	"go/ast"

	"github.com/kubetyped/informer/cmd/internal/kube"
)

var versionText = rule("versiontext", `find resource versions that are compared as text, or parsed

As text, "9" is greater than "10". That resource versions are numbers is known to
resourceversion.CompareResourceVersion of apimachinery alone, which also says when they
are none. Equality may be tested.

Wrong:

	if updated.ResourceVersion > old.ResourceVersion {

Right:

	newer, err := resourceversion.CompareResourceVersion(updated.ResourceVersion, old.ResourceVersion)`, func(c *checker) {
	const instead = ": use resourceversion.CompareResourceVersion of k8s.io/apimachinery/pkg/util"
	eachFile(c, func(e *ast.BinaryExpr) {
		if isComparison(e.Op) && (c.isVersion(e.X) || c.isVersion(e.Y)) {
			c.report(e, "resource versions are compared as text"+instead)
		}
	})
	eachFile(c, func(call *ast.CallExpr) {
		f := c.called(call)
		if f == nil || len(call.Args) == 0 || !c.isVersion(call.Args[0]) {
			return
		}
		switch {
		case kube.IsFunc(f, "strconv", "ParseInt", "ParseUint", "Atoi"):
			c.report(call, "a resource version is parsed"+instead)
		case kube.IsFunc(f, "strings", "Compare"), kube.IsFunc(f, "cmp", "Compare", "Less"):
			c.report(call, "resource versions are compared as text"+instead)
		}
	})
})

// isVersion reports whether an expression is the resource version of an object.
func (c *checker) isVersion(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		field := c.TypesInfo.Uses[e.Sel]
		if field == nil || e.Sel.Name != "ResourceVersion" || field.Pkg() == nil {
			return false
		}
		return kube.PackagePath(field.Pkg()) == kube.Meta
	case *ast.CallExpr:
		f := c.called(e)
		return f != nil && f.Name() == "GetResourceVersion" && f.Signature().Recv() != nil
	}
	return false
}

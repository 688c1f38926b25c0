// Package kube recognizes the types and functions of client-go, apimachinery,
// controller-runtime and this project by their names, so that programs with any version
// of them can be checked.
package kube

import (
	"go/types"
	"slices"
	"strings"
)

// Paths of packages.
const (
	Cache   = "k8s.io/client-go/tools/cache"
	Meta    = "k8s.io/apimachinery/pkg/apis/meta/v1"
	Runtime = "k8s.io/apimachinery/pkg/runtime"
	Client  = "sigs.k8s.io/controller-runtime/pkg/client"
	Event   = "sigs.k8s.io/controller-runtime/pkg/event"
	Typed   = "github.com/kubetyped/informer"
)

// IsObject reports whether a value of the type is an API object: it has the methods of
// metav1.Object.
func IsObject(t types.Type) bool {
	if _, isParam := types.Unalias(t).(*types.TypeParam); isParam {
		return false
	}
	for _, name := range []string{"GetResourceVersion", "SetResourceVersion"} {
		found, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
		if _, isFunc := found.(*types.Func); !isFunc {
			return false
		}
	}
	return true
}

// Named returns the named type of t, through a pointer and aliases, or nil.
func Named(t types.Type) *types.Named {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, _ := t.(*types.Named)
	return named
}

// TypeName returns the path of the package and the name of a named type, without vendor
// folders, or nothing.
func TypeName(t types.Type) (path, name string) {
	named := Named(t)
	if named == nil || named.Obj().Pkg() == nil {
		return "", ""
	}
	return PackagePath(named.Obj().Pkg()), named.Obj().Name()
}

// IsType reports whether t, or what it points to, is the named type.
func IsType(t types.Type, path, name string) bool {
	p, n := TypeName(t)
	return n == name && p == path
}

// PackagePath returns the path of a package as programs import it.
func PackagePath(pkg *types.Package) string {
	if pkg == nil {
		return ""
	}
	path := pkg.Path()
	if i := strings.LastIndex(path, "/vendor/"); i >= 0 {
		path = path[i+len("/vendor/"):]
	}
	path, _, _ = strings.Cut(path, " [")
	return path
}

// ReceiverName returns the name of the type that a method belongs to, or nothing.
func ReceiverName(f *types.Func) string {
	if f == nil || f.Signature().Recv() == nil {
		return ""
	}
	if named := Named(f.Signature().Recv().Type()); named != nil {
		return named.Obj().Name()
	}
	return ""
}

// IsFunc reports whether f is the function or method of a package. Methods are written
// Type.Method.
func IsFunc(f *types.Func, path string, names ...string) bool {
	if f == nil || PackagePath(f.Pkg()) != path {
		return false
	}
	name := f.Name()
	if recv := ReceiverName(f); recv != "" {
		name = recv + "." + name
	}
	return slices.Contains(names, name)
}

// Concerns reports whether a package can have to do with API objects: it imports a
// package of Kubernetes or this project, or one that does.
func Concerns(pkg *types.Package) bool {
	for _, direct := range pkg.Imports() {
		if isKubernetes(direct) {
			return true
		}
		for _, indirect := range direct.Imports() {
			if path := PackagePath(indirect); path == Meta || path == Runtime {
				return true
			}
		}
	}
	return false
}

func isKubernetes(pkg *types.Package) bool {
	path := PackagePath(pkg)
	return strings.HasPrefix(path, "k8s.io/") || strings.HasPrefix(path, "sigs.k8s.io/") || strings.HasPrefix(path, Typed+"/")
}

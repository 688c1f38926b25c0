package migrate

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// The packages of factories, and those that have the same names here.
var factoryPaths = map[string]string{
	"k8s.io/client-go/informers":                 adaptersPath + "/informers",
	"k8s.io/client-go/dynamic/dynamicinformer":   adaptersPath + "/dynamicinformer",
	"k8s.io/client-go/metadata/metadatainformer": adaptersPath + "/metadatainformer",
}

// The names of those packages that exist here.
var factoryNames = map[string]bool{
	"GenericInformer": true, "SharedInformerFactory": true, "SharedInformerOption": true, "NewSharedInformerFactory": true,
	"NewFilteredSharedInformerFactory": true, "NewSharedInformerFactoryWithOptions": true, "WithCustomResyncConfig": true,
	"WithInformerName": true, "WithNamespace": true, "WithTransform": true, "WithTweakListOptions": true,
	"DynamicSharedInformerFactory": true, "TweakListOptionsFunc": true, "NewDynamicSharedInformerFactory": true,
	"NewFilteredDynamicSharedInformerFactory": true, "NewFilteredDynamicInformer": true,
	"NewSharedInformerFactoryForMetadata": true, "NewFilteredSharedInformerFactoryForMetadata": true, "NewFilteredMetadataInformer": true,
}

var factories = analyzer("factories", `import factories of informers from this project

A file that makes a factory of client-go's informers, dynamicinformer or metadatainformer
imports the package of that name in github.com/kubetyped/informer/adapters: its informers
stand on the typed core, and have client-go's types. Factories of informer-gen stay: programs
call adapters.Serve for their types.

Wrong:

	import "k8s.io/client-go/informers"

Right:

	import "github.com/kubetyped/informer/adapters/informers"`, func(p *program) {
	served := p.serves()
	for _, file := range p.Files {
		if !served {
			p.generated(file)
		}
		for _, spec := range file.Imports {
			old, _ := strconv.Unquote(spec.Path.Value)
			if path := factoryPaths[old]; path != "" {
				p.factory(file, spec, path)
			}
		}
	}
})

// factory changes one import, if the file makes factories.
func (p *program) factory(file *ast.File, spec *ast.ImportSpec, path string) {
	name := p.TypesInfo.PkgNameOf(spec)
	if name == nil || name.Name() == "_" {
		return
	}
	makes := false
	var other *stays
	p.link()
	for _, id := range p.uses[name] {
		selector, ok := p.parents[id].(*ast.SelectorExpr)
		if !ok {
			continue
		}
		used := selector.Sel.Name
		makes = makes || strings.HasPrefix(used, "New")
		switch {
		case !factoryNames[used] && other == nil:
			other = &stays{id.Pos(), path + " has no " + used}
		case strings.HasSuffix(used, "Option") && !p.inFunction(selector):
			other = &stays{id.Pos(), "other files may give it options of client-go, which are of another type"}
		}
	}
	switch {
	case !makes && name.Name() != ".":
		return
	case name.Name() == ".":
		other = &stays{spec.Pos(), "it is imported without a name"}
	case p.isImported(file, path):
		other = &stays{spec.Pos(), path + " is imported, too"}
	}
	if other != nil {
		p.leaves(spec, "import of "+spec.Path.Value, other)
		return
	}
	p.changes(spec, "factories of "+path+" have the same types and other informers", []analysis.TextEdit{replace(spec.Path.Pos(), spec.Path.End(), strconv.Quote(path))})
}

func (p *program) isImported(file *ast.File, path string) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == strconv.Quote(path) })
}

// inFunction reports whether a node is in the body of a function, and not in the type of
// a function or variable that other files use.
func (p *program) inFunction(n ast.Node) bool {
	for child := n; n != nil; child, n = n, p.parents[n] {
		switch f := n.(type) {
		case *ast.FuncDecl:
			return child == f.Body
		case *ast.FuncLit:
			if child == f.Type {
				return false
			}
		}
	}
	return false
}

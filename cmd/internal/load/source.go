package load

import (
	"go/ast"
	"go/parser"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// fromSource returns the types of a package of another module by its syntax, without the
// bodies of its functions. What does not check is left out.
func (c *checker) fromSource(p *packages.Package) *types.Package {
	if p.Types != nil {
		return p.Types
	}
	var files []*ast.File
	for _, name := range p.CompiledGoFiles {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if file, _ := parser.ParseFile(c.set, name, nil, parser.SkipObjectResolution); file != nil {
			files = append(files, file)
		}
	}
	config := &types.Config{
		Importer: imports{c, p}, Sizes: p.TypesSizes,
		IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {},
	}
	p.Types, _ = config.Check(p.PkgPath, c.set, files, nil)
	return p.Types
}

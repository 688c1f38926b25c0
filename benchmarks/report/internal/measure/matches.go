package measure

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
)

// Matches reports whether the package in dir has a benchmark function that the first element of
// one of patterns matches, without building it. It returns an error for a file that is no Go,
// and for a pattern that is none.
func Matches(dir string, patterns []string) (bool, error) {
	var first []string
	for _, pattern := range patterns {
		name, _, _ := strings.Cut(pattern, "/")
		first = append(first, "(?:"+name+")")
	}
	names, err := regexp.Compile(strings.Join(first, "|"))
	if err != nil {
		return false, fmt.Errorf("patterns of benchmarks: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return false, err
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return false, fmt.Errorf("benchmarks in %s: %w", dir, err)
		}
		for _, declaration := range parsed.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Benchmark") && names.MatchString(function.Name.Name) {
				return true, nil
			}
		}
	}
	return false, nil
}

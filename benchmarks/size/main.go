// Command size builds the program examples/first and the same one on client-go, both without
// symbols. It prints their sizes, the numbers of packages that they link, and the numbers of
// functions that are compiled again after each edit: of the program's own package, and of
// generic types for its types of objects. It fails if examples/first is not the smaller one in
// the first two, or if its functions are more than maxFunctions. Run it in the root module:
//
//	go run ./benchmarks/size
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// maxFunctions is the number of functions in the package of examples/first as it was when they
// were last counted, and a twentieth more. A use of a generic type with another type argument,
// such as in an assertion or in a feature that the program does not use, adds hundreds.
const maxFunctions = 3060

// program is one that was built.
type program struct {
	bytes     int64
	packages  int
	functions int
}

func main() {
	if err := compare("./examples/first", "./benchmarks/size/clientgo"); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

// compare returns an error if the program of a package of ours is not smaller than the one
// it is compared with.
func compare(ours, theirs string) error {
	dir, err := os.MkdirTemp("", "size")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%-28s %12s %10s %10s\n", "program, without symbols", "bytes", "packages", "functions")
	var built []program
	for _, of := range []string{ours, theirs} {
		p, err := build(of, filepath.Join(dir, "program"))
		if err != nil {
			return fmt.Errorf("%s: %w", of, err)
		}
		fmt.Printf("%-28s %12d %10d %10d\n", of, p.bytes, p.packages, p.functions)
		built = append(built, p)
	}
	if built[0].bytes >= built[1].bytes || built[0].packages >= built[1].packages {
		return errors.New("the program examples/first is not smaller than the one on client-go")
	}
	if n := built[0].functions; n > maxFunctions {
		return fmt.Errorf("the package of examples/first has %d functions, and may have %d: find what is compiled with go tool nm -size -type, or raise maxFunctions", n, maxFunctions)
	}
	return nil
}

// build builds the program of a package, as file.
func build(of, file string) (p program, err error) {
	if _, err := output("build", "-ldflags=-s -w", "-o", file, of); err != nil {
		return p, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return p, err
	}
	linked, err := output("list", "-deps", of)
	if err != nil {
		return p, err
	}
	functions, err := compiled(of)
	return program{info.Size(), len(strings.Fields(linked)), functions}, err
}

// compiled returns the number of functions in the compiled form of a package.
func compiled(of string) (int, error) {
	archive, err := output("list", "-export", "-f", "{{.Export}}", of)
	if err != nil {
		return 0, err
	}
	symbols, err := output("tool", "nm", "-type", strings.TrimSpace(archive))
	return strings.Count(symbols, " T "), err
}

// output returns what the go command prints.
func output(args ...string) (string, error) {
	command := exec.Command("go", args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	return string(out), err
}

// Command size builds the program examples/first and the same one on client-go, both without
// symbols, and prints their sizes and the numbers of packages that they link. It fails
// if examples/first is not the smaller one in both. Run it in the root module:
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

// program is one that was built.
type program struct {
	bytes    int64
	packages int
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
	fmt.Printf("%-28s %12s %10s\n", "program, without symbols", "bytes", "packages")
	var built []program
	for _, of := range []string{ours, theirs} {
		p, err := build(of, filepath.Join(dir, "program"))
		if err != nil {
			return fmt.Errorf("%s: %w", of, err)
		}
		fmt.Printf("%-28s %12d %10d\n", of, p.bytes, p.packages)
		built = append(built, p)
	}
	if built[0].bytes >= built[1].bytes || built[0].packages >= built[1].packages {
		return errors.New("the program examples/first is not smaller than the one on client-go")
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
	return program{info.Size(), len(strings.Fields(linked))}, err
}

// output returns what the go command prints.
func output(args ...string) (string, error) {
	command := exec.Command("go", args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	return string(out), err
}

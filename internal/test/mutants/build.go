package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// build builds the test binary of a package with all the bugs in it, of which its
// environment says the one to have, and returns its path. It writes to folder, and
// nowhere else.
func build(ctx context.Context, root, of, folder string, bugs []mutation) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	files, err := overlay(root, bugs)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range files {
		replace[path] = filepath.Join(folder, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	listed := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(listed, list, 0o600); err != nil {
		return "", err
	}
	binary := filepath.Join(folder, filepath.Base(of)+".test")
	module := moduleOf(root, of)
	within, err := filepath.Rel(module, filepath.Join(root, of))
	if err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, "go", "test", "-c", "-ldflags=-s -w", "-overlay", listed, "-o", binary, "./"+filepath.ToSlash(within))
	command.Dir = module
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tests of %s with all bugs: %w\n%s", of, err, output)
	}
	return binary, nil
}

// moduleOf returns the folder of the module that has a package: the root, or a nested one.
func moduleOf(root, of string) string {
	for folder := of; folder != "."; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(root, folder, "go.mod")); err == nil {
			return filepath.Join(root, folder)
		}
	}
	return root
}

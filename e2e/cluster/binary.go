package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// binaryVariable is the environment variable that names the program, for
	// a build tool that has just built it.
	binaryVariable = "E2E_CONTROLPLANE"

	modulePath    = "github.com/kubetyped/informer/e2e"
	binaryPackage = modulePath + "/cmd/controlplane"
)

// findBinary returns the path of the control plane's program: the one that was
// asked for, or else one that it builds.
func findBinary(ctx context.Context, o options) (string, error) {
	path := o.binary
	if path == "" {
		path = os.Getenv(binaryVariable)
	}
	if path == "" {
		fmt.Fprintln(o.progress, "building kube-apiserver and etcd (some minutes the first time)…")
		return buildBinary(ctx)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("find the control plane's program: %w", err)
	}
	if info.IsDir() {
		return "", fmt.Errorf("find the control plane's program: %s is a folder", path)
	}
	return filepath.Abs(path)
}

// buildBinary builds the program into the folder bin of this module, where
// `go build` leaves it alone as long as it is up to date. The working directory
// must belong to this module, as that of its tests does: elsewhere its go.mod,
// which makes the build possible, is not in force.
func buildBinary(ctx context.Context) (string, error) {
	root, err := goOutput(ctx, "list", "-m", "-f", "{{.Dir}}", modulePath)
	if err != nil {
		return "", fmt.Errorf("find module %s (or set %s): %w", modulePath, binaryVariable, err)
	}
	path := filepath.Join(root, "bin", "controlplane")
	// Without symbols the program is a third smaller and links faster.
	if _, err := goOutput(ctx, "build", "-ldflags=-s -w", "-o", path, binaryPackage); err != nil {
		return "", fmt.Errorf("build %s: %w", binaryPackage, err)
	}
	return path, nil
}

// goOutput runs the go command and returns what it prints, without the line
// end. Its error carries what the command complained about.
func goOutput(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kubetyped/informer/cmd/internal/load"
)

// compile removes the files of packages that do not compile, or whose tests do not, once
// they are changed, and prints why. It needs the tool's module: without it, the error says
// how to get it, unless changes are only printed.
func (o *options) compile(ctx context.Context, files map[string]*changed, after map[string][]byte, stderr io.Writer) (err error) {
	if o.tool.Module == "" || len(after) == 0 {
		return nil
	}
	if _, err := load.GoCommand(ctx, o.dir, "list", "-m", o.tool.Module); err != nil {
		if o.diff {
			fmt.Fprintf(stderr, "%s: the changes are not compiled: go.mod does not require %s\n", o.tool.Name, o.tool.Module)
			return nil
		}
		return fmt.Errorf("nothing is written: go.mod does not require %s: run go get %[1]s, then this again, and go mod tidy after it", o.tool.Module)
	}
	dir, err := os.MkdirTemp("", o.tool.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	overlay, written, err := overlayOf(dir, after)
	if err != nil {
		return err
	}
	broken, err := o.broken(ctx, overlay, packagesOf(files, after))
	if err != nil {
		return err
	}
	for path, why := range broken {
		if at, rest, ok := strings.Cut(why, ":"); ok && strings.Contains(at, filepath.Base(dir)) {
			why = written[filepath.Base(at)] + ":" + rest
		}
		maps.DeleteFunc(after, func(name string, _ []byte) bool { return plain(files[name].path) == path })
		fmt.Fprintf(stderr, "%s: package %s stays: it does not compile once it is changed: %s\n", o.tool.Name, path, why)
	}
	return nil
}

// plain returns the path of a package without the test that it is compiled for.
func plain(id string) string {
	path, _, _ := strings.Cut(id, " ")
	return path
}

func packagesOf(files map[string]*changed, after map[string][]byte) []string {
	paths := map[string]bool{}
	for name := range after {
		paths[plain(files[name].path)] = true
	}
	return slices.Sorted(maps.Keys(paths))
}

// overlayOf writes files and their list, which the go command takes instead of those
// that are there. It returns the list, and the names of files by those of their overlays.
func overlayOf(dir string, after map[string][]byte) (list string, written map[string]string, err error) {
	replaced := map[string]string{}
	written = map[string]string{}
	for name, text := range after {
		path := filepath.Join(dir, strconv.Itoa(len(replaced))+".go")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return "", nil, err
		}
		replaced[name], written[filepath.Base(path)] = path, name
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", nil, err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, written, os.WriteFile(list, text, 0o600)
}

// broken compiles packages and their tests, and returns which do not, and why.
func (o *options) broken(ctx context.Context, overlay string, paths []string) (map[string]string, error) {
	args := []string{"list", "-e", "-export", "-test", "-overlay=" + overlay, "-f", "{{.ImportPath}}\t{{.ForTest}}\t{{with .Error}}{{printf `%q` .Err}}{{end}}"}
	if o.tags != "" {
		args = append(args, "-tags="+o.tags)
	}
	out, err := load.GoCommand(ctx, o.dir, append(append(args, "--"), paths...)...)
	if err != nil {
		return nil, err
	}
	broken := map[string]string{}
	for line := range strings.Lines(out) {
		parts := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		if len(parts) < 3 || parts[2] == "" {
			continue
		}
		path := plain(parts[0])
		if parts[1] != "" {
			path = parts[1]
		}
		broken[path] = firstError(parts[2])
	}
	return broken, nil
}

// firstError returns the first line of the compiler's messages that is about the code.
func firstError(quoted string) string {
	text, err := strconv.Unquote(quoted)
	if err != nil {
		text = quoted
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return text
}

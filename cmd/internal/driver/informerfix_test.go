package driver_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubetyped/informer/cmd/internal/driver"
	"github.com/kubetyped/informer/cmd/internal/vet"
)

const (
	untyped = `package %s

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

func run(stop chan struct{}, pods informers.PodInformer, names chan string) {
	_ = pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { names <- obj.(*corev1.Pod).Name },
	})
	_ = pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: other})
}

var other func(any)
`
	typed = `package %s

import (
	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/typed"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

func run(stop chan struct{}, pods informers.PodInformer, names chan string) {
	_ = pods.Informer().AddEventHandler(adapters.ResourceEventHandler(typed.HandlerFuncs[*corev1.Pod]{
		AddFunc: func(obj *corev1.Pod, _ bool) { names <- obj.Name },
	}))
	_ = pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: other})
}

var other func(any)
`
	// The stub of the factories has no GenericInformer, as a later version may have none.
	broken = `package %s

import "k8s.io/client-go/informers"

var factory = informers.NewSharedInformerFactory(nil, 0)

var _ informers.GenericInformer
`
)

// required adds a stub of this project's module to a program.
func required(t *testing.T, dir string) {
	t.Helper()
	const path = "github.com/kubetyped/informer"
	stub := filepath.Join(dir, "stubs", path)
	if err := os.CopyFS(stub, os.DirFS(filepath.Join("..", "testdata", "src", path))); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(stub, "go.mod"): "module " + path + "\n\ngo 1.26\n",
		filepath.Join(dir, "go.mod"):  "\nrequire " + path + " v0.0.0\n\nreplace " + path + " => ./stubs/" + path + "\n",
	} {
		file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func runFix(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errors bytes.Buffer
	code = driver.Main(t.Context(), vet.Informerfix, append([]string{"-C", dir}, args...), &out, &errors)
	return code, out.String(), errors.String()
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name, name+".go"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestInformerfixNeedsModule: without this project's module, changes are printed, and not written.
func TestInformerfixNeedsModule(t *testing.T) {
	dir := program(t, map[string]string{"handler": untyped})
	before := content(t, dir, "handler")
	code, stdout, stderr := runFix(t, dir, "-fix", "./...")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "nothing is written: go.mod does not require github.com/kubetyped/informer: run go get github.com/kubetyped/informer, then this again, and go mod tidy after it") {
		t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", code, stdout, stderr)
	}
	code, stdout, stderr = runFix(t, dir, "-fix", "-diff", "./...")
	if code != 0 || !strings.Contains(stdout, "\n+\t\tAddFunc: func(obj *corev1.Pod, _ bool)") || !strings.Contains(stderr, "the changes are not compiled") {
		t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", code, stdout, stderr)
	}
	if content(t, dir, "handler") != before {
		t.Error("the file is written")
	}
}

// TestInformerfix: it writes what compiles, and prints the rest.
func TestInformerfix(t *testing.T) {
	dir := program(t, map[string]string{"handler": untyped, "broken": broken})
	required(t, dir)
	code, _, stderr := runFix(t, dir, "./...")
	if code != 1 || strings.Count(stderr, "can be typed") != 1 {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	code, _, stderr = runFix(t, dir, "-fix", "./...")
	if want := `handler\.go:13:38: the handler stays: this variable may be nil, .*\n(?s:.*)package example.com/program/broken stays: it does not compile once it is changed: \S*broken\.go:7:\d+: .*GenericInformer(?s:.*)informerfix: changed files: 1\n`; code != 0 || !regexp.MustCompile(want).MatchString(stderr) {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	if got := content(t, dir, "handler"); got != strings.Replace(typed, "%s", "handler", 1) {
		t.Errorf("the file is now\n%s", got)
	}
	if got := content(t, dir, "broken"); got != strings.Replace(broken, "%s", "broken", 1) {
		t.Errorf("what does not compile is written:\n%s", got)
	}
}

// TestInformerfixLeavesGenerated: functions of generated files, such as those of cgo, keep their
// parameters.
func TestInformerfixLeavesGenerated(t *testing.T) {
	dir := program(t, map[string]string{"handler": strings.Replace(untyped, "names <- ", "add(obj); names <- ", 1)})
	required(t, dir)
	const generated = "// Code generated by a generator. DO NOT EDIT.\n\npackage handler\n\nimport corev1 \"k8s.io/api/core/v1\"\n\nfunc add(obj any) { _ = obj.(*corev1.Pod) }\n"
	name := filepath.Join(dir, "handler", "generated.go")
	if err := os.WriteFile(name, []byte(generated), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runFix(t, dir, "-fix", "./..."); code != 0 || !strings.Contains(content(t, dir, "handler"), "func(obj *corev1.Pod, _ bool) { add(obj); names <- obj.Name }") {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != generated {
		t.Errorf("the generated file is changed: %v\n%s", err, got)
	}
}

// TestGoFix: the go command makes the same of a program.
func TestGoFix(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "informerfix")
	command := func(dir string, args ...string) {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	command(filepath.Join("..", ".."), "build", "-o", tool, "./informerfix")
	dir := program(t, map[string]string{"handler": untyped})
	required(t, dir)
	command(dir, "fix", "-fixtool="+tool, "./handler")
	if got := content(t, dir, "handler"); got != strings.Replace(typed, "%s", "handler", 1) {
		t.Errorf("the file is now\n%s", got)
	}
}

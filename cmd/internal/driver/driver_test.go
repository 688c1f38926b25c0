package driver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	writes = `package %s

import v1 "k8s.io/client-go/listers/core/v1"

func write(lister v1.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	pod.Labels["a"] = "b"
}
`
	right = `package %s

import v1 "k8s.io/client-go/listers/core/v1"

func write(lister v1.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	pod = pod.DeepCopy()
	pod.Labels["a"] = "b"
}
`
)

// program writes a module with packages of one file each, and stubs of the modules that
// they import. It returns its folder.
func program(t *testing.T, packages map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mod := "module example.com/program\n\ngo 1.26\n"
	for _, stub := range []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go"} {
		mod += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %[1]s => ./stubs/%[1]s\n", stub)
		from := os.DirFS(filepath.Join("..", "testdata", "src", stub))
		if err := os.CopyFS(filepath.Join(dir, "stubs", stub), from); err != nil {
			t.Fatal(err)
		}
		write(filepath.Join("stubs", stub, "go.mod"), "module "+stub+"\n\ngo 1.26\n")
	}
	write("go.mod", mod)
	for name, text := range packages {
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, name)
		}
		write(filepath.Join(name, name+".go"), text)
	}
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOWORK", "off")
	return dir
}

// run runs informervet in a folder.
func run(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errors bytes.Buffer
	code = driver.Main(t.Context(), vet.Informervet, append([]string{"-C", dir}, args...), &out, &errors)
	return code, out.String(), progress.ReplaceAllString(errors.String(), "")
}

// progress is what a slow machine prints besides.
var progress = regexp.MustCompile(`(?m)^\w+: \d+ of \d+ packages\n`)

func TestExitCodes(t *testing.T) {
	dir := program(t, map[string]string{
		"wrong": writes, "right": right,
		"broken": "package broken\n\nvar x int = \"\"\n",
		"above":  "package above\n\nimport _ \"example.com/program/broken\"\n",
	})
	for _, test := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string // patterns
	}{
		{"nothing is found", []string{"./right"}, 0, `^$`, `^$`},
		{"a write is found", []string{"./wrong"}, 1, `^$`, `^\S+wrong\.go:7:12: Labels\[…\] of an object of a cache, PodNamespaceLister\.Get \(line 6\), is written to.*\n\S+wrong.go:6:\d+: \tthe object comes from`},
		{"lines around it", []string{"-c=0", "./wrong"}, 1, `^$`, `\n7\t\tpod\.Labels`},
		{"JSON", []string{"-json", "./wrong"}, 0, `"example.com/program/wrong": \{\s+"cachemutation": \[`, `^$`},
		{"the analyzer is off", []string{"-cachemutation=false", "./wrong"}, 0, `^$`, `^$`},
		{"others are chosen", []string{"-tombstone", "./wrong"}, 0, `^$`, `^$`},
		{"it is chosen", []string{"-cachemutation", "./wrong"}, 1, `^$`, `Labels`},
		{"it does not compile", []string{"./broken", "./wrong"}, 1, `^$`, `^informervet: skipped, as it does not compile: \S+broken\.go:3:13: .*\n\S+wrong\.go:7:12`},
		{"it imports that", []string{"./above"}, 1, `^$`, `^informervet: skipped, [^\n]*broken\.go:3:13: [^\n]*\ninformervet: skipped packages that import those: 1\n$`},
		{"nothing matches", []string{"./nothing"}, 1, `^$`, `^informervet: [^\n]*nothing[^\n]*\n$`},
		{"of another module", []string{"k8s.io/api/core/v1"}, 1, `^$`, `^informervet: no packages of the main module match k8s.io/api/core/v1\n$`},
		{"no package below", []string{"./right/..."}, 0, `^$`, `^$`},
		{"no such flag", []string{"-nothing"}, 2, `^$`, `^flag provided but not defined: -nothing\n`},
		{"-diff alone", []string{"-diff", "./wrong"}, 2, `^$`, `use both`},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := run(t, dir, test.args...)
			if code != test.code || !regexp.MustCompile(test.stdout).MatchString(stdout) || !regexp.MustCompile(test.stderr).MatchString(stderr) {
				t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", code, stdout, stderr)
			}
		})
	}
}

// TestBrokenModule: one error says that the module is broken, or has no packages.
func TestBrokenModule(t *testing.T) {
	dir := program(t, map[string]string{"right": right})
	for mod, want := range map[string]string{
		"module":                                "^informervet: [^\n]*go.mod[^\n]*",
		"module example.com/program\n\ngo 9.99": "^informervet: [^\n]*go >= 9.99[^\n]*",
	} {
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := run(t, dir, "./...")
		if code != 1 || !regexp.MustCompile(want).MatchString(stderr) || strings.Count(stderr, "informervet:") != 1 {
			t.Errorf("exit code %d, stderr:\n%s", code, stderr)
		}
	}
	if code, _, stderr := run(t, t.TempDir(), "./..."); code != 1 || strings.Count(stderr, "informervet:") != 1 {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
}

func TestFix(t *testing.T) {
	dir := program(t, map[string]string{"wrong": writes})
	file := filepath.Join(dir, "wrong", "wrong.go")
	code, stdout, stderr := run(t, dir, "-fix", "-diff", "./...")
	if code != 0 || stderr != "" || !strings.Contains(stdout, "\n+\tpod = pod.DeepCopy()\n") {
		t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", code, stdout, stderr)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != fmt.Sprintf(writes, "wrong") {
		t.Errorf("-diff has written the file: %v\n%s", err, text)
	}
	if code, _, stderr := run(t, dir, "-fix", "./..."); code != 0 || stderr != "" {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != fmt.Sprintf(right, "wrong") {
		t.Errorf("the file is not fixed: %v\n%s", err, text)
	}
	if code, _, stderr := run(t, dir, "./..."); code != 0 {
		t.Errorf("after -fix, exit code %d, stderr:\n%s", code, stderr)
	}
	left, err := filepath.Glob(filepath.Join(dir, "wrong", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left behind: %v %v", left, err)
	}
}

// TestFixWithLineDirectives: a fix is of the file that has the statement, whatever //line says.
func TestFixWithLineDirectives(t *testing.T) {
	generated := func(text string) string {
		return strings.Replace(fmt.Sprintf(text, "wrong"), "func write(", "//line wrong.y:3\nfunc write(", 1)
	}
	dir := program(t, map[string]string{"wrong": generated(writes)})
	from := filepath.Join(dir, "wrong", "wrong.y")
	text := strings.Repeat("write: a rule of the grammar\n", 20)
	if err := os.WriteFile(from, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := run(t, dir, "-json", "./..."); code != 0 || !strings.Contains(stdout, `wrong.go",`) {
		t.Errorf("exit code %d, stdout:\n%s", code, stdout)
	}
	if code, _, stderr := run(t, dir, "-fix", "./..."); code != 0 || stderr != "" {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	if got := content(t, dir, "wrong"); got != generated(right) {
		t.Errorf("the file is not fixed:\n%s", got)
	}
	if got, err := os.ReadFile(from); err != nil || string(got) != text {
		t.Errorf("the other file is changed: %v\n%s", err, got)
	}
}

// TestTests: findings in tests are not reported unless -tests is set.
func TestTests(t *testing.T) {
	dir := program(t, map[string]string{"right": right})
	test := filepath.Join(dir, "right", "right_test.go")
	text := strings.Replace(fmt.Sprintf(writes, "right"), "func write(", "func writeInTest(", 1)
	if err := os.WriteFile(test, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := run(t, dir, "./..."); code != 0 {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	if code, _, stderr := run(t, dir, "-tests", "./..."); code != 1 || strings.Count(stderr, "is written to:") != 1 {
		t.Errorf("with -tests, exit code %d, stderr:\n%s", code, stderr)
	}
}

func TestHelp(t *testing.T) {
	var out, errors bytes.Buffer
	for _, a := range vet.Analyzers {
		if code := driver.Main(t.Context(), vet.Informervet, []string{"help", a.Name}, &out, &errors); code != 0 {
			t.Errorf("help %s: exit code %d", a.Name, code)
		}
		for _, part := range []string{a.Name + ": ", "Wrong:", "Right"} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("the page of %s has no %q", a.Name, part)
			}
		}
		out.Reset()
	}
	if code := driver.Main(t.Context(), vet.Informervet, []string{"help", "nothing"}, &out, &errors); code != 2 {
		t.Errorf("help nothing: exit code %d", code)
	}
}

// TestGoVet: the go command gives the same findings, and its fixes.
func TestGoVet(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "informervet")
	command := func(dir string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := command(filepath.Join("..", ".."), "build", "-o", tool, "./informervet"); err != nil {
		t.Fatal(err, out)
	}
	dir := program(t, map[string]string{"wrong": strings.Replace(writes, "pod.Labels[", "_ = helpers.Set(pod)\n\tpod.Labels[", 1), "right": right,
		"helpers": "package helpers\n\nimport v1 \"k8s.io/api/core/v1\"\n\nfunc Set(pod *v1.Pod) error {\n\tpod.Name = \"\"\n\treturn nil\n}\n"})
	file := filepath.Join(dir, "wrong", "wrong.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("import v1"), []byte("import \"example.com/program/helpers\"\nimport v1"), 1)
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := command(dir, "vet", "-vettool="+tool, "-json", "./...")
	if err != nil {
		t.Fatal(err, out)
	}
	_, own, stderr := run(t, dir, "-json", "./...")
	fromVet, fromUs := messages(t, out), messages(t, own)
	if fromVet != fromUs || strings.Count(fromUs, "\n") != 2 {
		t.Errorf("go vet finds\n%s\ninformervet finds\n%s\n%s", fromVet, fromUs, stderr)
	}
	if out, err := command(dir, "vet", "-vettool="+tool, "./..."); err == nil || !strings.Contains(out, "is written to") {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	if out, err := command(dir, "fix", "-fixtool="+tool, "./..."); err != nil {
		t.Errorf("go fix: %v\n%s", err, out)
	}
	if out, err := command(dir, "vet", "-vettool="+tool, "./..."); err != nil {
		t.Errorf("go vet after go fix: %v\n%s", err, out)
	}
}

// messages returns the positions and texts of findings, one a line.
func messages(t *testing.T, out string) string {
	t.Helper()
	var lines strings.Builder
	for text := range strings.Lines(out) {
		if strings.HasPrefix(text, "#") {
			out = strings.Replace(out, text, "", 1)
		}
	}
	decoder := json.NewDecoder(strings.NewReader(out))
	for decoder.More() {
		var tree map[string]map[string][]struct{ Posn, Message string }
		if err := decoder.Decode(&tree); err != nil {
			t.Fatal(err, out)
		}
		for _, found := range tree {
			for name, all := range found {
				for _, f := range all {
					fmt.Fprintf(&lines, "%s: %s: %s\n", name, filepath.Base(f.Posn), f.Message)
				}
			}
		}
	}
	return lines.String()
}

package driver

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubetyped/informer/cmd/internal/load"
	"github.com/kubetyped/informer/cmd/internal/migrate"
	"github.com/kubetyped/informer/cmd/internal/stubs"
)

// rewrite changes a program that compiles, and checks that it does so afterwards, and is
// formatted. It reports how many fixes there were.
func rewrite(t *testing.T, importer *stubs.Importer, source string) (after string, fixes int) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "program.go")
	if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := importer.Check(name, source)
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	runner := &load.Runner{Analyzers: migrate.Analyzers}
	found, err := runner.Run(p)
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	files := map[string]*changed{}
	for _, f := range found {
		if len(f.SuggestedFixes) > 0 && merge(files, f) {
			fixes++
		}
	}
	if fixes == 0 {
		return source, 0
	}
	text, err := files[name].apply([]byte(source))
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	if formatted, err := format.Source(text); err != nil || !bytes.Equal(formatted, text) {
		t.Errorf("not formatted: %v\n%s", err, text)
	}
	if _, err := importer.Check("after.go", string(text)); err != nil {
		t.Errorf("it does not compile: %v\n%s\nbefore:\n%s", err, text, source)
	}
	return string(text), fixes
}

// TestRewriteCompiles: what the driver makes of the shapes of handlers compiles.
func TestRewriteCompiles(t *testing.T) {
	dir := filepath.Join("..", "testdata")
	importer := stubs.New(dir)
	source, err := os.ReadFile(filepath.Join(dir, "src", "handlers", "shapes.go"))
	if err != nil {
		t.Fatal(err)
	}
	if _, fixes := rewrite(t, importer, string(source)); fixes != 13 {
		t.Errorf("%d fixes", fixes)
	}
}

// FuzzRewrite: what informerfix makes of programs made from bytes compiles and is formatted.
func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{"", "abc", "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f", "a long one, with many statements in it: 0123456789", strings.Repeat("\x0c\x03\x1f\x15\x07", 20)} {
		f.Add([]byte(seed))
	}
	importer := stubs.New(filepath.Join("..", "testdata"))
	// The fuzzer takes a first run for stuck that has all imports to check.
	if _, err := importer.Import("k8s.io/client-go/informers"); err != nil {
		f.Fatal(err)
	}
	if _, err := importer.Import("fmt"); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &writer{data: data}
		rewrite(t, importer, g.program())
	})
}

// writer writes a program with handlers, byte by byte.
type writer struct {
	data []byte
	n    int
}

func (w *writer) next(n int) int {
	if len(w.data) == 0 {
		return 0
	}
	b := w.data[0]
	w.data = w.data[1:]
	return int(b) % n
}

const programHead = `package program

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

var _ *corev1.Pod

var _ metav1.Object

type controller struct{ any chan any }

func use(all ...any) { fmt.Println(all...) }

`

// program writes a handler of literals, and of methods and a closure with the same statements.
func (w *writer) program() string {
	var out strings.Builder
	out.WriteString(programHead)
	for i := range 3 {
		fmt.Fprintf(&out, "func (c *controller) m%d(obj any) {\n%s}\n\n", i, w.block("obj", 2))
	}
	out.WriteString("func handle(c *controller, pods informers.PodInformer) {\n")
	fmt.Fprintf(&out, "f := func(obj any) {\n%s}\n", w.block("obj", 2))
	out.WriteString("pods.Informer().AddEventHandler(" + []string{"", "&"}[w.next(2)] + "cache.ResourceEventHandlerFuncs{\n")
	for _, event := range []string{"Add", "Delete"} {
		switch w.next(4) {
		case 0:
			fmt.Fprintf(&out, "%sFunc: func(obj any) {\n%s},\n", event, w.block("obj", 3))
		case 1:
			fmt.Fprintf(&out, "%sFunc: c.m%d,\n", event, w.next(3))
		case 2:
			fmt.Fprintf(&out, "%sFunc: f,\n", event)
		}
	}
	fmt.Fprintf(&out, "UpdateFunc: func(old, obj any) {\n%s%s},\n})\n", w.block("old", 2), w.block("obj", 2))
	out.WriteString("use(f)\n")
	if w.next(4) == 1 {
		fmt.Fprintf(&out, "c.m%d(%s)\n", w.next(3), []string{"nil", "cache.DeletedFinalStateUnknown{}", "new(corev1.Pod)", "pods"}[w.next(4)])
	}
	return out.String() + "}\n"
}

// block writes statements that use a parameter.
func (w *writer) block(obj string, depth int) string {
	var out strings.Builder
	for range 1 + w.next(4) {
		out.WriteString(w.statement(obj, depth) + "\n")
	}
	return out.String()
}

func (w *writer) statement(obj string, depth int) string {
	w.n++
	inner := "use()\n"
	kind := w.next(19)
	if depth > 0 {
		inner = w.block(obj, depth-1)
	}
	shape := []string{
		"use(OBJ)",
		"podN := OBJ.(*corev1.Pod)\nuse(podN.Name)",
		"podN := OBJ.(*corev1.Pod)\nuse(podN)\npodN = nil",
		"podN, okN := OBJ.(*corev1.Pod)\n// one of them\nif !okN {\nINNER}\nuse(podN)",
		"podN, okN := OBJ.(*corev1.Pod)\nif !okN {\ntombstone, ok := OBJ.(cache.DeletedFinalStateUnknown)\nif !ok {\nreturn\n}\npodN, ok = tombstone.Obj.(*corev1.Pod)\nif !ok {\nuse(OBJ)\nreturn\n}\n}\nuse(podN)",
		"if t, ok := OBJ.(cache.DeletedFinalStateUnknown); ok {\nOBJ = t.Obj\n}",
		"if podN, ok := OBJ.(*corev1.Pod); ok {\nuse(podN)\nINNER}",
		"if podN, ok := OBJ.(*corev1.Pod); ok {\nuse(podN)\nreturn\n}",
		"if podN, ok := OBJ.(*corev1.Pod); !ok {\nINNER} else {\nuse(podN)\n}",
		"if _, ok := OBJ.(cache.DeletedFinalStateUnknown); ok {\nINNER} else if podN, ok := OBJ.(*corev1.Pod); ok {\nuse(podN)\n}",
		"if podN, ok := OBJ.(*corev1.Pod); ok && podN.Name != \"\" {\nINNER}",
		"switch xN := OBJ.(type) {\ncase *corev1.Pod:\nuse(xN.Name)\nINNERcase cache.DeletedFinalStateUnknown:\nuse(xN.Key)\n}",
		"switch OBJ.(type) {\ncase *corev1.Pod:\nINNERdefault:\nreturn\n}",
		"use(OBJ.(*corev1.Pod).Name, OBJ)",
		"var mN metav1.Object\nvar okN bool\nif mN, okN = OBJ.(metav1.Object); !okN {\nINNER}\nuse(mN)",
		"func() {\nINNER}()",
		"for range 2 {\nINNER}",
		"podN, okN := OBJ.(*corev1.Pod)\nif !okN || podN == nil {\nINNER}",
		"podN, okN := OBJ.(*corev1.Pod)\n_, aN := OBJ.(*corev1.Pod)\nif aN && podN != nil && okN {\nINNER}",
	}[kind]
	n := fmt.Sprint(w.n)
	shape = strings.ReplaceAll(strings.ReplaceAll(shape, "podN", "pod"+n), "okN", "ok"+n)
	shape = strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(shape, "xN", "x"+n), "mN", "m"+n), "aN", "a"+n)
	return strings.ReplaceAll(strings.ReplaceAll(shape, "OBJ", obj), "INNER", inner)
}

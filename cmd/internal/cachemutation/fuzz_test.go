package cachemutation_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/kubetyped/informer/cmd/internal/cachemutation"
	"github.com/kubetyped/informer/cmd/internal/load"
	"github.com/kubetyped/informer/cmd/internal/stubs"
)

// FuzzAnalyzer runs the analyzer on programs made from bytes: it does not crash, and finds
// the same each time.
func FuzzAnalyzer(f *testing.F) {
	for _, seed := range []string{"", "abc", "\x00\x01\x02\x03\x04\x05\x06\x07", "a long one, with many statements in it: 0123456789", strings.Repeat("\x0c\x03\x1f\x15", 20)} {
		f.Add([]byte(seed))
	}
	importer := stubs.New(dir)
	f.Fuzz(func(t *testing.T, data []byte) {
		source := (&generator{data: data}).program()
		first := findings(t, importer, source)
		if second := findings(t, importer, source); first != second {
			t.Errorf("found\n%s\nthen\n%s\nin\n%s", first, second, source)
		}
	})
}

// findings returns what the analyzer reports of a file.
func findings(t *testing.T, importer *stubs.Importer, source string) string {
	p, err := importer.Check("a.go", source)
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	runner := &load.Runner{Analyzers: []*analysis.Analyzer{cachemutation.Analyzer}}
	found, err := runner.Run(p)
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	var lines strings.Builder
	for _, one := range found {
		fmt.Fprintln(&lines, importer.Set.Position(one.Pos), one.Message)
	}
	return lines.String()
}

// generator writes a program that compiles, byte by byte.
type generator struct {
	data []byte
	out  strings.Builder
	left int // statements
}

func (g *generator) next(n int) int {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return int(b) % n
}

const head = `package fuzzed

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	listers "k8s.io/client-go/listers/core/v1"
)

type setter interface{ set(*corev1.Pod) *corev1.Pod }

type impl struct{ lister listers.PodLister; pod *corev1.Pod; q corev1.Pod; byName map[string]*corev1.Pod }

func first[T any](all ...T) (one T) { for _, one = range all { return one }; return }

var _ = first[metav1.Object]
`

// program has some functions that call one another.
func (g *generator) program() string {
	g.out.WriteString(head)
	for i := range 3 {
		g.left = 25
		fmt.Fprintf(&g.out, "\nfunc (c *impl) f%d(lister listers.PodLister, pod *corev1.Pod, pods []*corev1.Pod, call func(*corev1.Pod) *corev1.Pod, s setter) (result *corev1.Pod) {\n", i)
		g.out.WriteString("q := *pod\nm := map[string]*corev1.Pod{}\nvar obj metav1.Object = pod\nvar any1 any = pod\n_, _, _, _ = q, m, obj, any1\n")
		g.block(3)
		g.out.WriteString("return pod\n}\n")
	}
	g.out.WriteString("\nfunc (c *impl) set(pod *corev1.Pod) *corev1.Pod { return c.f0(c.lister, pod, nil, c.set, c) }\n")
	return g.out.String()
}

var statements = []string{
	"pod, _ = lister.Pods(\"ns\").Get(\"web\")", "pods, _ = lister.List(nil)", "pod = pod.DeepCopy()", "pod = &q", "q = *pod",
	"pod.Labels[\"a\"] = \"b\"", "q.Labels[\"a\"] = \"b\"", "q.Labels = map[string]string{}", "pod.Spec.Containers[0].Env[0].Name = \"x\"",
	"pods = append(pods, pod, &q)", "pods[0] = pod", "m[\"a\"] = pod", "pod = m[\"a\"]", "for _, pod = range pods { pod.Name = \"x\" }",
	"for _, p := range m { p.Name = \"x\"; pod = p }", "obj = pod", "obj.SetLabels(obj.GetLabels())", "any1 = pods", "any1 = q",
	"if p, ok := any1.(*corev1.Pod); ok { pod = p }", "if p, ok := any1.(corev1.Pod); ok { q = p }", "pod = call(pod)", "pod = s.set(pod)",
	"call = c.set", "call = func(p *corev1.Pod) *corev1.Pod { q.Name = p.Name; p.Labels = q.Labels; pod = p; return &q }",
	"pod = c.f1(lister, pod, pods, call, c)", "pod = c.f2(lister, &q, pods[1:], call, s)", "defer c.f0(lister, pod, pods, call, s)", "go c.set(pod)",
	"pod.DeepCopyInto(&q)", "copy(pods, []*corev1.Pod{pod})", "delete(m, \"a\")", "clear(m)", "pod = first(pods...)", "q = first(q, *pod)",
	"q.Spec, q.ObjectMeta = pod.Spec, metav1.ObjectMeta{Labels: pod.Labels}", "c.pod = pod", "pod = c.pod", "c.q = q", "pod = &c.q", "c.byName = m",
	"result = pod", "pod, q = &q, *pod", "x := &pod; *x = &q", "y := [2]corev1.Pod{q, *pod}; q = y[1]; pod = &y[0]", "z := struct{ p *corev1.Pod; all []*corev1.Pod }{pod, pods}; pods = z.all; z.p.Name = \"x\"",
	"ch := make(chan *corev1.Pod, 1); ch <- pod; pod = <-ch", "func() { defer func() { _ = recover() }(); pod.Name = \"x\" }()", "method := (*impl).set; pod = method(c, pod)", "pod.Finalizers = append(pod.Finalizers[:0:0], pod.Finalizers...)",
}

func (g *generator) block(depth int) {
	for range g.next(6) + 1 {
		if g.left--; g.left < 0 {
			return
		}
		n := g.next(len(statements) + 5)
		if n < len(statements) {
			fmt.Fprintf(&g.out, "{ %s }\n", statements[n])
			continue
		}
		if depth == 0 {
			continue
		}
		g.out.WriteString([]string{
			"if len(pods) > 0 {\n", "for range pods {\n", "switch pod.Name { case \"a\": pod.Name = \"b\"; fallthrough; case \"b\":\n", "for p := range func(yield func(*corev1.Pod) bool) { yield(pod) } { pod = p\n", "func() {\n",
		}[n-len(statements)])
		g.block(depth - 1)
		if n == len(statements)+4 {
			g.out.WriteString("}()\n")
		} else {
			g.out.WriteString("}\n")
		}
	}
}

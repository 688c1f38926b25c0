package panics_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/internal/test/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }

// row is a row of the second table of docs/reference/panics.md: a function of the user's.
type row struct {
	// contained marks a panic that is an error of one object, key, cluster or request whether
	// programs are to crash or not, as is promised where the function is given.
	contained bool
	// run plants one panic, and checks that all else continues.
	run func(t *testing.T, p *planted)
}

// planted is a panic that comes once.
type planted struct{ gone atomic.Bool }

// here panics, if it is the first call.
func (p *planted) here() {
	if p.gone.CompareAndSwap(false, true) {
		usersFunction()
	}
}

func stack() string { return string(debug.Stack()) }

const planting = "planted by a test"

// usersFunction is what the stack has to show.
//
//go:noinline
func usersFunction() { panic(planting) }

// rows returns all rows, by the first cells of the table.
func rows() map[string]row {
	all := map[string]row{}
	for _, some := range []map[string]row{informerRows, sourceRows, controllerRows, serverRows} {
		for name, r := range some {
			all[name] = r
		}
	}
	return all
}

// TestPanics: with crashing switched off, a panic is reported once, and later work is done; with
// crashing switched on, the process ends with the user's stack, unless the panic is contained.
func TestPanics(t *testing.T) {
	for name, r := range rows() {
		t.Run(name, func(t *testing.T) {
			t.Run("crashing off", func(t *testing.T) { survives(t, r, false) })
			t.Run("crashing on", func(t *testing.T) {
				if r.contained {
					survives(t, r, true)
				} else {
					crashes(t, name)
				}
			})
		})
	}
}

// survives runs a row in a bubble, and checks its reports.
func survives(t *testing.T, r row, crash bool) {
	crashBefore, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crashBefore, handlers }()
	var mu sync.Mutex
	var reported []any
	var stacks []string
	utilruntime.ReallyCrash = crash
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, p any) {
		mu.Lock()
		defer mu.Unlock()
		reported, stacks = append(reported, p), append(stacks, stack())
	}}
	rig.InBubble(t, func(t *testing.T) { r.run(t, &planted{}) })
	mu.Lock()
	defer mu.Unlock()
	if assert.Equal(t, []any{planting}, reported) {
		assert.Contains(t, stacks[0], "usersFunction", "the stack is the user's")
	}
}

// crashingRow is the variable of the environment that names the row of a child process.
const crashingRow = "PANICS_ROW"

// crashes runs a row in its own process, which has to end.
func crashes(t *testing.T, name string) {
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrash$", "-test.count=1")
	child.Env = append(os.Environ(), crashingRow+"="+name)
	out, err := child.CombinedOutput()
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed, "it goes on:\n%s", out)
	assert.Contains(t, string(out), "panic: "+planting, "it ends by the panic")
	assert.Contains(t, string(out), "usersFunction(", "and shows whose it is")
}

// TestCrash is what a child process runs, with crashing as it is by default.
func TestCrash(t *testing.T) {
	name := os.Getenv(crashingRow)
	if name == "" {
		t.Skip("it is run by TestPanics, in processes that end")
	}
	require.True(t, utilruntime.ReallyCrash)
	// As programs log it: client-go takes panics of lists to another goroutine.
	utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { _, _ = os.Stderr.WriteString(stack()) }}
	rig.InBubble(t, func(t *testing.T) { rows()[name].run(t, &planted{}) })
}

// TestPage: the table says of each row whether it is contained, and has no others that this
// package is said to test.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "panics.md"))
	require.NoError(t, err)
	var documented, tested []string
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) == 4 && strings.TrimSpace(cells[3]) == "`TestPanics`" {
			documented = append(documented, strings.Trim(strings.TrimSpace(cells[0]), "`")+": "+strings.TrimSpace(cells[1]))
		}
	}
	for name, r := range rows() {
		crash := "ends"
		if r.contained {
			crash = "continues"
		}
		tested = append(tested, name+": "+crash)
	}
	slices.Sort(documented)
	slices.Sort(tested)
	assert.Equal(t, strings.Join(tested, "\n"), strings.Join(documented, "\n"))
}

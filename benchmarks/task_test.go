package benchmarks

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// taskVariable names, in the environment of a process that a benchmark has
// started, what the process is to do instead of running tests.
const taskVariable = "BENCHMARKS_TASK"

// A task is what another process does: it writes one line when it is ready, and
// ends when its standard input does.
var tasks = map[string]func(arguments []string, ready func(string)) error{
	"serve":      serveTask,
	"sync":       syncTask,
	"servefleet": serveFleetTask,
	"syncfleet":  syncFleetTask,
	"factory":    factoryTask,
	"servekept":  serveKeptTask,
	"keep":       keepTask,
}

// runTask does a task, a name and arguments with spaces between them, and
// returns the code to exit with.
func runTask(task string) int {
	words := strings.Fields(task)
	err := tasks[words[0]](words[1:], func(line string) {
		fmt.Println(line)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, task+":", err)
		return 1
	}
	return 0
}

// untilTold waits until the process that has started this one wants it to end.
func untilTold() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// startTask starts a process with a task, which ends with the test, and returns
// the line that it wrote when it was ready, and a function to end it sooner.
func startTask(tb testing.TB, task string) (line string, end func() *os.ProcessState) {
	tb.Helper()
	program, err := os.Executable()
	require.NoError(tb, err)
	command := exec.Command(program)
	command.Env = append(os.Environ(), taskVariable+"="+task)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	require.NoError(tb, err)
	output, err := command.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, command.Start())
	ended := false
	end = func() *os.ProcessState {
		if !ended {
			ended = true
			assert.NoError(tb, input.Close())
			assert.NoError(tb, command.Wait())
		}
		return command.ProcessState
	}
	tb.Cleanup(func() { end() })
	line, err = bufio.NewReader(output).ReadString('\n')
	require.NoError(tb, err, task)
	return strings.TrimSpace(line), end
}

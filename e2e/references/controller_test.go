package references

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/e2e/target"
	"github.com/kubetyped/informer/internal/test/traffic"

	"k8s.io/client-go/rest"
)

// line is a line that the controller prints.
type line struct {
	Event, Secret string
	Took          time.Duration
	Heap          int64
	Goroutines    int
	traffic.Counts
}

// controller is the controller, running.
type controller struct {
	lines <-chan line
	in    io.WriteCloser
	cmd   *exec.Cmd
}

// startController starts the controller, which ends with the test.
func startController(t *testing.T, program string, config *rest.Config, way string) *controller {
	c := &controller{cmd: exec.CommandContext(t.Context(), program, "-kubeconfig="+target.WriteKubeconfig(t, config),
		"-way="+way, fmt.Sprint("-ingresses=", ingresses), fmt.Sprint("-period=", *period))}
	c.cmd.Stderr = t.Output()
	var err error
	c.in, err = c.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	lines := make(chan line, 10_000)
	c.lines = lines
	go func() { // ends with the program
		defer close(lines)
		for read := bufio.NewScanner(out); read.Scan(); {
			var l line
			if assert.NoError(t, json.Unmarshal(read.Bytes(), &l)) {
				lines <- l
			}
		}
	}()
	return c
}

// next returns the next line of an event, and leaves out others.
func (c *controller) next(t *testing.T, event string, within time.Duration) line {
	t.Helper()
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		select {
		case l, ok := <-c.lines:
			require.True(t, ok, "the controller has ended")
			if l.Event == event {
				return l
			}
		case <-timer.C:
			require.FailNow(t, "the controller has not printed it", "%s within %s", event, within)
		}
	}
}

// counts returns what the controller has taken until now.
func (c *controller) counts(t *testing.T) line {
	t.Helper()
	_, err := io.WriteString(c.in, "\n")
	require.NoError(t, err)
	return c.next(t, "counts", time.Minute)
}

// end ends the controller.
func (c *controller) end(t *testing.T) {
	t.Helper()
	require.NoError(t, c.in.Close())
	for range c.lines { // until it ends
	}
	assert.NoError(t, c.cmd.Wait())
}

package manager

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// process is the example, running.
type process struct {
	cmd             *exec.Cmd
	probes, metrics string
	begin           time.Time
}

// startProcess starts the example, which is killed when the test ends.
func startProcess(t *testing.T, program, kubeconfig string, args ...string) *process {
	p := &process{probes: freeAddress(t), metrics: freeAddress(t), begin: time.Now()}
	args = append(args, "-kubeconfig="+kubeconfig, "-probes="+p.probes, "-metrics="+p.metrics)
	p.cmd = exec.CommandContext(t.Context(), program, args...)
	p.cmd.Stderr = t.Output()
	require.NoError(t, p.cmd.Start())
	return p
}

// freeAddress returns an address that nobody listens on.
func freeAddress(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// ready reports whether the readiness check passes.
func (p *process) ready(ctx context.Context) bool {
	response, err := get(ctx, "http://"+p.probes+"/readyz")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// heap returns the bytes that were alive after the last collection, which is half of what
// starts the next.
func (p *process) heap(t *testing.T) float64 {
	response, err := get(t.Context(), "http://"+p.metrics+"/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var next float64
		if n, _ := fmt.Sscanf(lines.Text(), "go_memstats_next_gc_bytes %g", &next); n == 1 {
			return next / 2
		}
	}
	t.Fatal("the metrics have no go_memstats_next_gc_bytes")
	return 0
}

func get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, strings.NewReader(""))
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
}

// end ends the process in good order. It returns its CPU time and the most memory it has had.
func (p *process) end(t *testing.T) (cpu time.Duration, peak int64) {
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, p.cmd.Wait())
	state := p.cmd.ProcessState
	return state.UserTime() + state.SystemTime(), state.SysUsage().(*syscall.Rusage).Maxrss << 10
}

package shards

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// process is a process of the group.
type process struct {
	t        *testing.T
	identity string
	journal  *journal
	cmd      *exec.Cmd
	read     sync.WaitGroup

	mu   sync.Mutex
	last state // guarded by mu
}

// startProcess starts a process, which is killed when the test ends, if it has not ended.
func startProcess(t *testing.T, identity, kubeconfig string, j *journal) *process {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	p := &process{t: t, identity: identity, journal: j, cmd: exec.Command(program)}
	p.cmd.Env = append(os.Environ(), identityVariable+"="+identity, kubeconfigVariable+"="+kubeconfig, journalVariable+"="+j.Name())
	p.cmd.Stderr = t.Output()
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	p.read.Go(func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var s state
			if json.Unmarshal(lines.Bytes(), &s) == nil {
				p.mu.Lock()
				p.last = s
				p.mu.Unlock()
			}
		}
	})
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.kill()
		}
	})
	return p
}

// state returns what the process has said last, nothing if it is dead.
func (p *process) state() state {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// kill ends the process at once.
func (p *process) kill() {
	assert.NoError(p.t, p.cmd.Process.Kill())
	p.wait()
	p.excuse()
}

// end asks the process to end, and waits until it has.
func (p *process) end() {
	assert.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.NoError(p.t, p.wait(), p.identity)
}

func (p *process) wait() error {
	p.read.Wait()
	err := p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = state{}
	return err
}

// stop suspends the process.
func (p *process) stop() {
	assert.NoError(p.t, p.cmd.Process.Signal(syscall.SIGSTOP))
	p.mu.Lock()
	p.last = state{}
	p.mu.Unlock()
	p.excuse()
}

// excuse notes that the process was stopped in the midst of its work.
func (p *process) excuse() {
	_, err := fmt.Fprintf(p.journal, "%s stopped - - -\n", p.identity)
	assert.NoError(p.t, err)
}

// goOn resumes the process.
func (p *process) goOn() {
	assert.NoError(p.t, p.cmd.Process.Signal(syscall.SIGCONT))
}

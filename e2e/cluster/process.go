package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	// stopGrace is how long a process may take to end after SIGTERM. An API
	// server with open watches takes about 3 s.
	stopGrace = 30 * time.Second

	// How much of a log goes into an error.
	tailBytes = 8 << 10
	tailLines = 20
)

// process is a child of ours. Its output goes to a file. Its standard input is
// a pipe that we hold open and never write to, so that the child sees the end
// of it when we are gone.
type process struct {
	name string
	log  string // file
	cmd  *exec.Cmd
	done chan struct{} // closed when the child has ended
	err  error         // how it ended; read after done
}

// startProcess starts a child and, with it, the goroutine that waits for its
// end. Each of stop and kill ends both. The output is appended to the log.
func startProcess(name, log, binary string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: open log: %w", name, err)
	}
	defer out.Close() // the child has its own descriptor of it
	cmd := exec.Command(binary, args...)
	// A signal to our whole process group, from a terminal for one, is ours to
	// act on: servers that all begin to stop wait for each other in vain.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdout, cmd.Stderr = out, out
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, log: log, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
	}()
	return p, nil
}

// ended returns nil while the process runs, and then an error that says how it ended, with the
// last lines of its log.
func (p *process) ended() error {
	select {
	case <-p.done:
		return p.explain(fmt.Errorf("%s ended by itself: %s", p.name, p.cmd.ProcessState))
	default:
		return nil
	}
}

// stop asks the process to end, and waits until it has. It returns an error if
// the process had ended before, ends with a failure, or takes longer than
// stopGrace, after which it is killed. In any case it is gone then.
func (p *process) stop() error {
	if err := p.ended(); err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return errors.Join(fmt.Errorf("stop %s: %w", p.name, err), p.kill())
	}
	select {
	case <-p.done:
	case <-time.After(stopGrace):
		err := fmt.Errorf("stop %s: still running after %v, killed", p.name, stopGrace)
		return p.explain(errors.Join(err, p.kill()))
	}
	if p.err != nil {
		return p.explain(fmt.Errorf("stop %s: %w", p.name, p.err))
	}
	return nil
}

// kill ends the process at once, and waits until it is gone. It is no error if
// it was gone before.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.done
	return nil
}

// explain adds the last lines of the log to err.
func (p *process) explain(err error) error {
	lines, tailErr := tail(p.log)
	if tailErr != nil {
		return errors.Join(err, tailErr)
	}
	return fmt.Errorf("%w; its last lines:\n%s", err, lines)
}

// tail returns the last lines of a file.
func tail(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	start := max(0, info.Size()-tailBytes)
	content, err := io.ReadAll(io.NewSectionReader(file, start, tailBytes))
	if err != nil {
		return "", fmt.Errorf("read log %s: %w", path, err)
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n"), nil
}

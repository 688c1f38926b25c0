package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// endGrace is how long a process may take to end after its input has.
const endGrace = 10 * time.Second

// process is this program once more, measuring a side.
type process struct {
	side     string
	cmd      *exec.Cmd
	input    io.Closer
	requests *json.Encoder
	answers  *json.Decoder
}

// startProcess starts a process for a side. The caller must call end. When ctx
// ends, so does the process.
func startProcess(ctx context.Context, side string) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, "-side", side)
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = endGrace
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", side, err)
	}
	cmd.Cancel = input.Close
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", side, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", side, err)
	}
	return &process{side: side, cmd: cmd, input: input, requests: json.NewEncoder(input), answers: json.NewDecoder(output)}, nil
}

// ask sends a request and returns the answer. An answer that is an error is
// returned as one.
func (p *process) ask(r request) (answer, error) {
	var a answer
	if err := p.requests.Encode(r); err != nil {
		return answer{}, fmt.Errorf("ask %s to %s: %w", p.side, r.Do, err)
	}
	if err := p.answers.Decode(&a); err != nil {
		return answer{}, fmt.Errorf("ask %s to %s: it gave no answer: %w", p.side, r.Do, err)
	}
	if a.Err != "" {
		return answer{}, fmt.Errorf("ask %s to %s: %s", p.side, r.Do, a.Err)
	}
	return a, nil
}

// end ends the process and waits until it is gone. It returns an error if the
// process has failed.
func (p *process) end() error {
	err := p.input.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	if err := errors.Join(err, p.cmd.Wait()); err != nil {
		return fmt.Errorf("end %s: %w", p.side, err)
	}
	return nil
}

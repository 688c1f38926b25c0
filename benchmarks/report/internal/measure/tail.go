package measure

import (
	"bytes"
	"sync"
)

// tail keeps the last that was written. Two goroutines may write: one copies what
// a process prints, one its errors.
type tail struct {
	mu   sync.Mutex
	text []byte // guarded by mu
}

const tailLength = 4096

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if more := len(t.text) - tailLength; more > 0 {
		t.text = t.text[more:]
	}
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}

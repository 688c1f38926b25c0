package shards

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// journal is a file that all processes append lines to: who, what, and of what.
type journal struct {
	*os.File
	who string
}

func openJournal(path, who string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{file, who}, nil
}

// note appends a line, in one write.
func (j *journal) note(what, of, version, generation string) error {
	_, err := fmt.Fprintf(j, "%s %s %s %s %s\n", j.who, what, of, version, generation)
	return err
}

// findings are the results of reading a journal.
type findings struct {
	errors  []string
	calls   int
	refused int                        // writes of processes that had lost their ranges, by generation
	written map[string]string          // the version that the last write of a key was about
	highest map[string]string          // the generation of that write
	open    map[string]map[string]bool // who is at work, by key
}

// read plays a journal.
func read(path string) (*findings, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f := &findings{written: map[string]string{}, highest: map[string]string{}, open: map[string]map[string]bool{}}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 5 {
			return nil, fmt.Errorf("the line %q makes no sense", lines.Text())
		}
		f.play(words[0], words[1], words[2], words[3], words[4])
	}
	return f, lines.Err()
}

func (f *findings) play(who, what, key, version, generation string) {
	switch what {
	case "begin":
		f.calls++
		for other := range f.open[key] {
			f.errors = append(f.errors, fmt.Sprintf("%s has begun to work on %s while %s was at it", who, key, other))
		}
		if f.open[key] == nil {
			f.open[key] = map[string]bool{}
		}
		f.open[key][who] = true
	case "end":
		delete(f.open[key], who)
	case "write":
		if f.highest[key] != "" {
			if order, err := resourceversion.CompareResourceVersion(generation, f.highest[key]); err != nil || order < 0 {
				f.refused++
				return
			}
		}
		f.highest[key], f.written[key] = generation, version
	case "stopped": // what it was at then cannot be helped; its writes are judged
		for _, open := range f.open {
			delete(open, who)
		}
	default:
		f.errors = append(f.errors, "unknown: "+what)
	}
}

// TestJournal: what the journal is for is found in it.
func TestJournal(t *testing.T) {
	path := t.TempDir() + "/journal"
	a, err := openJournal(path, "a")
	assert.NoError(t, err)
	b, err := openJournal(path, "b")
	assert.NoError(t, err)
	defer func() { assert.NoError(t, a.Close()); assert.NoError(t, b.Close()) }()
	note := func(j *journal, words ...string) {
		t.Helper()
		assert.NoError(t, j.note(words[0], words[1], words[2], words[3]))
	}
	note(a, "begin", "k", "-", "-")
	note(a, "write", "k", "5", "9")
	note(a, "end", "k", "-", "-")
	note(b, "begin", "k", "-", "-")
	note(b, "stopped", "-", "-", "-")
	note(a, "begin", "k", "-", "-")
	note(a, "write", "k", "7", "11")
	note(a, "end", "k", "-", "-")
	note(b, "write", "k", "6", "10")
	f, err := read(path)
	assert.NoError(t, err)
	assert.Empty(t, f.errors)
	assert.Equal(t, 1, f.refused)
	assert.Equal(t, map[string]string{"k": "7"}, f.written)
	note(a, "begin", "k", "-", "-")
	note(b, "begin", "k", "-", "-")
	f, err = read(path)
	assert.NoError(t, err)
	assert.Equal(t, []string{"b has begun to work on k while a was at it"}, f.errors)
}

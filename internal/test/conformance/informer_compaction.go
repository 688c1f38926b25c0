package conformance

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outlasting is a check of informers whose server is compacted meanwhile.
type outlasting interface {
	// before makes one informer miss something.
	before()
	// after lets it come back to the server, which has been compacted.
	after()
	// finish ends the check.
	finish()
}

// testInformerCompaction compacts the server's history under informers of every subject: some
// are up to date, others have missed changes.
func testInformerCompaction(t *testing.T, rig Rig) {
	if rig.Compact == nil {
		t.Skip("the server does not compact on request")
	}
	var checks []outlasting
	for _, f := range []format{json, protobuf} {
		for _, s := range subjects(f) {
			if check := s.outlast(t, rig, fmt.Sprintf("%s-%d", f, len(checks))); check != nil {
				checks = append(checks, check)
			}
		}
	}
	for _, c := range checks {
		c.before()
	}
	require.NoError(t, rig.Compact(t.Context()))
	for _, c := range checks {
		c.after()
	}
	for _, c := range checks {
		c.finish()
	}
}

// outlast implements subject.
func (w *way[T]) outlast(t *testing.T, rig Rig, label string) outlasting {
	if w.resource(rig).kind == "" {
		return nil
	}
	s := newScene(t, rig, w.format, w.resource, label)
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience) // it waits for all the others, too
	t.Cleanup(cancel)
	s.ctx = ctx
	return &compacted[T]{scene: s, way: w}
}

type compacted[T object] struct {
	scene         *scene
	way           *way[T]
	present, away *observed[T]
}

func (c *compacted[T]) before() {
	s, w := c.scene, c.way
	for _, name := range []string{"a", "b", "c"} {
		s.create(name)
	}
	c.present, c.away = observe(s, w, scope{}), observe(s, w, scope{})
	require.NoError(s, c.away.informer.WaitForResourceVersion(s.ctx, s.change("a", "seen")))
	c.away.gate.close()
	s.delete("b")
	s.delete("c")
	s.create("c")
	s.create("d")
	require.NoError(s, c.present.informer.WaitForResourceVersion(s.ctx, s.change("a", "unseen")))
}

func (c *compacted[T]) after() { c.away.gate.open(false) }

func (c *compacted[T]) finish() {
	s := c.scene
	s.change("a", "after")
	s.delete("d")
	c.present.finish()
	c.away.finish()
	_, relisted := c.away.streamed.history.Events()
	assert.Positive(s, relisted, "%s: what was missed came by a list", c.way)
}

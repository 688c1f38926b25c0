package view

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubetyped/informer/index"
)

// Explanation is the reason why a view contains an object.
type Explanation struct {
	// View is the name of the view, and Key the object's key.
	View string
	Key  index.Key
	// ResourceVersion is that of the object, if it has one.
	ResourceVersion string
	// Computed is when the object was computed last, to the second, and Took how long that
	// took. Both are zero for the objects of inputs and unions.
	Computed time.Time
	Took     time.Duration
	// From are the objects that it was made of, and Fetched what was fetched for it.
	From    []Explanation
	Fetched []Fetched
}

// String returns the explanation for people, a line for each object.
func (e Explanation) String() string {
	var b strings.Builder
	e.write(&b, "")
	return b.String()
}

func (e Explanation) write(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s%s of %s", indent, e.Key, e.View)
	if e.ResourceVersion != "" {
		fmt.Fprintf(b, " at %s", e.ResourceVersion)
	}
	if !e.Computed.IsZero() {
		fmt.Fprintf(b, ", computed %s in %v", e.Computed.Format(time.RFC3339), e.Took)
	}
	b.WriteByte('\n')
	for _, from := range e.From {
		from.write(b, indent+"  ")
	}
	for _, f := range e.Fetched {
		fmt.Fprintf(b, "%s  %s of %s: %s\n", indent, f.Key, f.From, strings.Join(f.Objects, " "))
	}
}

// Explain reports why the object of a key is there, false if there is none. It waits for the
// step that is being computed. The view has to be the source of an informer that runs.
func (v *View[T]) Explain(ctx context.Context, key index.Key) (e Explanation, ok bool, err error) {
	err = v.ask(ctx, func(p *program) { e, ok = v.start(p).explain(key) })
	return e, ok, err
}

// explain returns how the object of a key was made.
func (t *table[T]) explain(key index.Key) (Explanation, bool) {
	for row, obj := range t.objects {
		if !isNone(obj) && obj.GetName() == key.Name && obj.GetNamespace() == key.Namespace {
			return t.explainRow(uint32(row)), true
		}
	}
	return Explanation{}, false
}

// explainRow returns how the object of a row was made.
func (t *table[T]) explainRow(row uint32) Explanation {
	obj := t.objects[row]
	e := Explanation{View: t.name, Key: index.KeyOf(obj), ResourceVersion: versionOf(obj)}
	if t.detail != nil {
		t.detail(row, &e)
	}
	return e
}

// noteCost adds what computing has cost.
func (e *Explanation) noteCost(c cost) {
	if c.at != 0 {
		e.Computed, e.Took = time.Unix(c.at, 0), c.took
	}
}

// explainFrom appends how an object was made, unless it has gone.
func explainFrom[T index.Object](dst []Explanation, t *table[T], row uint32) []Explanation {
	if int(row) >= len(t.objects) || isNone(t.objects[row]) {
		return dst
	}
	return append(dst, t.explainRow(row))
}

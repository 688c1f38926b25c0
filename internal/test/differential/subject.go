package differential

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/decode/plan"
	"github.com/kubetyped/informer/internal/decode/wire"
)

// subject is what is compared.
type subject struct {
	name   string
	codec  wire.Codec[any]
	fresh  func() []byte                      // the text of an object
	change func(*rand.Rand, []byte) []byte    // makes the text of another state
	want   func([]byte) (any, error)          // what apimachinery makes of a text
	event  func(t string, text []byte) []byte // the text of an event; nil: none is tried
	mask   *plan.Mask                         // of fields that are left out; nil: of none
	masked bool                               // fields are left out, by the mask or the type, and not looked at
	held   *held
}

// held holds the objects that a codec may take as cached: the last one of a key, or any other
// that there ever was.
type held struct {
	r     *rand.Rand
	none  bool // nothing is held
	byKey map[key]any
	all   []any
}

// key is what an object is called.
type key struct{ namespace, name string }

// newHeld returns what nothing is in yet, nil if objects are to share nothing.
func newHeld(r *rand.Rand) *held {
	if rarely(r, 8) {
		return nil
	}
	return &held{r: r, none: rarely(r, 4), byKey: map[key]any{}}
}

// as returns what a codec asks.
func as[T any](h *held) wire.Held[T] {
	if h == nil {
		return nil
	}
	return func(namespace, name string) (none T, ok bool) {
		if h.none {
			return none, false
		}
		if obj, ok := h.byKey[key{namespace, name}]; ok {
			return obj.(T), true
		}
		if len(h.all) > 0 && rarely(h.r, 2) {
			return one(h.r, h.all).(T), true
		}
		return none, false
	}
}

func (h *held) put(obj any) {
	if h == nil {
		return
	}
	h.all = append(h.all, obj)
	if named, ok := obj.(metav1.Object); ok {
		h.byKey[key{named.GetNamespace(), named.GetName()}] = obj
	}
}

// state is what was made of a text.
type state struct{ got, want any }

// run takes an object through states, and compares each with apimachinery's result. In the end,
// none of the returned objects must have changed.
func (s *subject) run(t *testing.T, r *rand.Rand, states int) {
	t.Helper()
	var made []state
	base := s.fresh()
	texts := [][]byte{base, s.fresh()} // of two objects
	for range states {
		which := r.IntN(len(texts))
		text := texts[which]
		switch r.IntN(20) {
		case 0:
			text = s.fresh()
		case 1:
			text = base
		case 2:
		default:
			for range 1 + r.IntN(3) {
				text = s.change(r, text)
			}
		}
		next, ok := s.check(t, r, text)
		if t.Failed() {
			return
		}
		if ok {
			made = append(made, next)
			s.held.put(next.got)
			texts[which] = text
			if len(text) > 100_000 {
				texts[which] = base
			}
		}
	}
	for i, one := range made {
		if !reflect.DeepEqual(one.got, one.want) {
			t.Errorf("%s: object %d of %d has changed since it was handed out\n got %s\nwant %s", s.name, i, len(made), show(one.got), show(one.want))
			return
		}
	}
}

// check decodes a text, as an item or in an event, and compares. It returns false if
// there is no object.
func (s *subject) check(t *testing.T, r *rand.Rand, text []byte) (made state, ok bool) {
	t.Helper()
	var wantErr error
	if made.want, wantErr = s.reference(text); wantErr == errPanic {
		return made, false
	}
	own := slices.Clone(text)
	var err error
	inEvent := s.event != nil && rarely(r, 3)
	if inEvent {
		own = s.event("MODIFIED", own)
		var e wire.Event[any]
		if e, err = s.codec.Event(own); err == nil && e.Invalid != nil {
			err = e.Invalid
		}
		made.got = e.Object
	} else {
		made.got, err = s.codec.Item(own)
	}
	for i := range own { // nothing may refer to it
		own[i] = 0xaa
	}
	switch {
	case err == nil && wantErr != nil && s.masked: // in the fields outside the mask
		return made, false
	case (err == nil) != (wantErr == nil):
		t.Errorf("%s (in an event: %v): got the error %v, want %v\n%q", s.name, inEvent, err, wantErr, text)
		return made, false
	case err != nil:
		return made, false
	case !reflect.DeepEqual(made.got, made.want):
		t.Errorf("%s (in an event: %v, masked: %v)\n got %s\nwant %s\n%q", s.name, inEvent, s.masked, show(made.got), show(made.want), text)
		return made, false
	}
	return made, true
}

var errPanic = fmt.Errorf("apimachinery panics")

// reference is want with the mask, where a panic is an error.
func (s *subject) reference(text []byte) (obj any, err error) {
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	if obj, err = s.want(slices.Clone(text)); err == nil {
		s.mask.Apply(obj)
	}
	return obj, err
}

// show returns an object for a message.
func show(obj any) string {
	text, err := json.Marshal(obj)
	if err != nil || len(text) < 3 {
		text = fmt.Appendf(nil, "%#v", obj)
	}
	return string(text[:min(len(text), 3000)])
}

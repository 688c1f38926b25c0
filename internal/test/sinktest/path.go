package sinktest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Path is a way from a source to a Sink. Its tests check that it passes on all that a report
// contains: every field of a change, including fields that are added later.
type Path[A, B index.Object] struct {
	// Begin returns the Sink that a source reports to. The path passes the reports on to another
	// Sink.
	Begin func(t *testing.T, to source.Sink[B]) source.Sink[A]
	// Object is one that the path lets through, and Back returns what it was before.
	Object A
	Back   func(B) A
	// Key returns the key at the end for one at the beginning; nil if it is the same.
	Key func(index.Key) index.Key
	// Version returns the version that a report comes with at the end; nil if it is the
	// same. With fleets, it is that of all clusters.
	Version func(method, version string) string
	// OtherFields is set if the fields at the end are not those at the beginning.
	OtherFields bool
	// Held is set if the path passes on Decoding.Held, so that objects can reuse values of those
	// at the end.
	Held bool
	// Compares is set if the path itself compares lists with the objects before, and so need not
	// pass on List.Released.
	Compares bool
}

// Over is a Path through a source that is made of another one.
func Over[A, B index.Object](wrap func(src source.Source[A]) source.Source[B]) func(*testing.T, source.Sink[B]) source.Sink[A] {
	return func(t *testing.T, to source.Sink[B]) source.Sink[A] {
		ctx, cancel := context.WithCancel(context.Background())
		begin := make(chan source.Sink[A])
		ended := make(chan error)
		go func() { ended <- wrap(script[A](begin)).Run(ctx, to) }()
		t.Cleanup(func() {
			cancel()
			assert.NoError(t, <-ended)
		})
		return <-begin
	}
}

// script is a source whose reports the test makes.
type script[T index.Object] chan source.Sink[T]

// Run implements source.Source.
func (s script[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	s <- sink
	<-ctx.Done()
	return nil
}

// Fill returns a change with a value in each field but those that make it what it is.
func Fill[T index.Object](c index.Change[T]) index.Change[T] {
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); v.Type().Field(i).Name {
		case "Delete", "Object", "Key":
		case "Reason":
			f.SetUint(uint64(index.Acquired))
		default:
			fill(f)
		}
	}
	return c
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.String:
		v.SetString("filled")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	default:
		panic("a field of a kind that nobody has thought of: " + v.Type().String())
	}
}

// Same asserts that a change has come as it was sent, field by field.
func (p Path[A, B]) same(t *testing.T, sent index.Change[A], got index.Change[B]) {
	from, to := reflect.ValueOf(sent), reflect.ValueOf(got)
	for i := range from.NumField() {
		switch name := from.Type().Field(i).Name; name {
		case "Object":
			var none B
			if sent.Delete && sent.Key != nil {
				assert.Equal(t, none, got.Object)
			} else if assert.NotEqual(t, none, got.Object) {
				assert.Equal(t, sent.Object, p.Back(got.Object), name)
			}
		case "Key":
			if sent.Key == nil {
				assert.Nil(t, got.Key, name)
			} else if assert.NotNil(t, got.Key, name) {
				assert.Equal(t, p.key(*sent.Key), *got.Key, name)
			}
		default:
			assert.Equal(t, from.Field(i).Interface(), to.Field(i).Interface(), name)
		}
	}
}

func (p Path[A, B]) key(key index.Key) index.Key {
	if p.Key == nil {
		return key
	}
	return p.Key(key)
}

func (p Path[A, B]) version(method, version string) string {
	if p.Version == nil {
		return version
	}
	return p.Version(method, version)
}

// Test tests the parts of a report that have to survive the path, each in a separate test.
func (p Path[A, B]) Test(t *testing.T) {
	key := index.KeyOf(p.Object)
	changes := map[string]index.Change[A]{
		"object":          {Object: p.Object},
		"deletion":        {Delete: true, Object: p.Object},
		"deletion by key": {Delete: true, Key: &key},
	}
	cell := func(name string, test func(t *testing.T, begin source.Sink[A], end *Recorder[B])) {
		t.Run(name, func(t *testing.T) {
			end := &Recorder[B]{}
			begin := p.Begin(t, end)
			begin.Replace(source.List{Items: StageAll(begin, p.Object)}, "1")
			end.Take()
			test(t, begin, end)
		})
	}
	for name, c := range changes {
		cell(name, func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
			sent := Fill(c)
			begin.Change(sent, "5")
			got := one(t, end, "Change")
			p.same(t, sent, got.Changes[0])
			assert.Equal(t, p.version("Change", "5"), got.Version, "version")
		})
		cell("step of "+name, func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
			sent, done := Fill(c), 0
			begin.Step([]index.Change[A]{sent}, "5", func() { done++ })
			got := one(t, end, "Step")
			require.Len(t, got.Changes, 1)
			p.same(t, sent, got.Changes[0])
			assert.Equal(t, p.version("Step", "5"), got.Version, "version")
			require.NotNil(t, got.Done, "done")
			got.Done()
			assert.Equal(t, 1, done)
		})
	}
	cell("step is one", func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
		begin.Step([]index.Change[A]{changes["deletion"], changes["object"]}, "5", nil)
		assert.Len(t, one(t, end, "Step").Changes, 2)
	})
	cell("bookmark", func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
		begin.Step(nil, "5", nil)
		assert.Equal(t, p.version("Bookmark", "5"), one(t, end, "Step").Version)
	})
	cell("done", func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
		done := 0
		begin.Step(nil, "", func() { done++ })
		got := one(t, end, "Step")
		require.NotNil(t, got.Done)
		got.Done()
		assert.Equal(t, 1, done)
	})
	p.testLists(cell, key)
	p.testRest(cell)
}

// testLists tests what has to survive of lists.
func (p Path[A, B]) testLists(cell func(string, func(*testing.T, source.Sink[A], *Recorder[B])), key index.Key) {
	cell("list", func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
		begin.Replace(source.List{Items: StageAll(begin, p.Object), Reason: index.Acquired}, "5")
		got := one(t, end, "Replace")
		assert.Len(t, got.List.Items, 1)
		assert.Equal(t, index.Acquired, got.List.Reason, "reason")
		assert.Equal(t, p.version("Replace", "5"), got.Version, "version")
	})
	cell("what a list leaves out", func(t *testing.T, _ source.Sink[A], _ *Recorder[B]) {
		end := &Recorder[B]{}
		begin := p.Begin(t, end)
		begin.Replace(source.List{Released: func(other index.Key) bool { return other == key }}, "5")
		got := one(t, end, "Replace")
		if p.Compares {
			return
		}
		require.NotNil(t, got.List.Released)
		assert.True(t, got.List.Released(key))
		assert.False(t, got.List.Released(index.Key{Namespace: "other"}))
	})
	cell("list of a part", func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
		begin.Replace(source.List{Part: true, Gone: []index.Key{key}, Reason: index.Released}, "5")
		got := one(t, end, "Replace")
		assert.True(t, got.List.Part)
		assert.Equal(t, []index.Key{p.key(key)}, got.List.Gone, "gone")
		assert.Equal(t, index.Released, got.List.Reason, "reason")
		assert.Equal(t, p.version("Part", "5"), got.Version, "version")
	})
	cell("list of a namespace", func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
		begin.Replace(source.List{Namespace: key.Namespace, Items: StageAll(begin, p.Object), Reason: index.Acquired}, "5")
		got := one(t, end, "Replace")
		assert.Len(t, got.List.Items, 1)
		assert.Equal(t, index.Acquired, got.List.Reason, "reason")
	})
	for _, reason := range []index.Reason{index.OutOfScope, index.Released} {
		cell("namespace that leaves: "+reason.String(), func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
			begin.Replace(source.List{Namespace: key.Namespace, Reason: reason}, "5")
			got := one(t, end, "Replace")
			assert.Empty(t, got.List.Items)
			assert.Equal(t, reason, got.List.Reason, "reason")
			if !got.List.Part {
				assert.Equal(t, p.key(key).Namespace, got.List.Namespace)
			}
		})
	}
	cell("key of what is staged", func(t *testing.T, begin source.Sink[A], _ *Recorder[B]) {
		assert.Equal(t, key, begin.Stage(p.Object, "5").Key())
	})
}

// testRest tests what else has to survive.
func (p Path[A, B]) testRest(cell func(string, func(*testing.T, source.Sink[A], *Recorder[B]))) {
	cell("error", func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
		broken := errors.New("broken")
		begin.Report(broken)
		_, errs := end.Take()
		assert.ErrorIs(t, errors.Join(errs...), broken)
	})
	cell("meter", func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
		begin.Decoding().Meter.Read(7)
		assert.EqualValues(t, 7, end.Meter.Traffic().Bytes)
	})
	cell("modifies", func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
		assert.False(t, begin.Decoding().Modifies)
		end.Modifies = true
		assert.True(t, begin.Decoding().Modifies)
	})
	cell("needs", func(t *testing.T, begin source.Sink[A], end *Recorder[B]) {
		assert.Empty(t, begin.Decoding().Needs)
		end.Needs = []string{"metadata.labels"}
		if p.OtherFields {
			assert.Empty(t, begin.Decoding().Needs)
		} else {
			assert.Equal(t, end.Needs, begin.Decoding().Needs)
		}
	})
	cell("held", func(t *testing.T, begin source.Sink[A], _ *Recorder[B]) {
		assert.Equal(t, p.Held, begin.Decoding().Held != nil)
	})
	p.testProgress(cell)
}

// testProgress tests progress, which counts before the first list.
func (p Path[A, B]) testProgress(cell func(string, func(*testing.T, source.Sink[A], *Recorder[B]))) {
	cell("progress", func(t *testing.T, _ source.Sink[A], _ *Recorder[B]) {
		end := &Recorder[B]{}
		p.Begin(t, end).Progress(3, 9)
		assert.Equal(t, [2]int{3, 9}, one(t, end, "Progress").Progress)
	})
}

// one returns the one report of a method that has come.
func one[T index.Object](t *testing.T, end *Recorder[T], method string) Report[T] {
	t.Helper()
	reports, _ := end.Take()
	found := slices.DeleteFunc(slices.Clone(reports), func(r Report[T]) bool { return r.Method != method })
	require.Len(t, found, 1, "%s: %+v", method, reports)
	return found[0]
}

// StageAll stages objects.
func StageAll[T index.Object](sink source.Sink[T], objs ...T) []source.Staged {
	return source.StageAll(sink, objs)
}

package view_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/view"
)

var errBroken = errors.New("broken")

// TestModel compares views of any operators with the same computed from scratch, after
// histories of steps of any size: over Sets and informers, over informers of views, with
// objects that are renamed, released, and bad for a while, and with handlers and informers
// that come late.
//
//	go test ./typed/view -run TestModel -rapid.checks=100000
func TestModel(t *testing.T) { rapid.Check(t, checkModel(t)) }

func FuzzModel(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) { rapid.MakeFuzz(checkModel(t))(t, input) })
}

func checkModel(t *testing.T) func(*rapid.T) {
	handlers := utilruntime.PanicHandlers
	t.Cleanup(func() { utilruntime.PanicHandlers = handlers })
	utilruntime.PanicHandlers = nil
	return func(rt *rapid.T) {
		shape := rapid.SliceOfN(rapid.Uint16(), 40, 40).Draw(rt, "shape")
		sizes := []int{rapid.IntRange(1, 5).Draw(rt, "views"), rapid.IntRange(0, 4).Draw(rt, "views over an informer")}
		seed := rapid.Uint64().Draw(rt, "seed")
		at := 0
		next := func(n int) int {
			at++
			return int(shape[(at-1)%len(shape)]) % n
		}
		var complaint string
		synctest.Test(t, func(t *testing.T) {
			m := &model{t: t, random: rand.New(rand.NewPCG(seed, 1)), stacked: map[string]expression{}}
			m.build(sizes, next)
			defer m.stop()
			m.play()
			complaint = m.complaint
		})
		if complaint != "" {
			rt.Fatal(complaint)
		}
	}
}

// model is a view, its inputs, and the informers that are made of it.
type model struct {
	t         *testing.T
	random    *rand.Rand
	inputs    []*modelInput
	below     []*typed.Informer[*thing] // of views that the view is made of
	stacked   map[string]expression     // the views of these, by the informer's name
	of        expression
	informers []*typed.Informer[*thing]
	told      []*toldThings
	stops     []func()
	bad       bool // some objects are, for a while

	mu        sync.Mutex
	complaint string // guarded by mu; the first one
}

func (m *model) complain(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.complaint == "" {
		m.complaint = m.of.name + ": " + fmt.Sprintf(format, args...)
	}
}

// build makes a view of views, and perhaps one of an informer of that.
func (m *model) build(sizes []int, next func(int) int) {
	m.bad = next(2) == 0
	var made []expression
	for n := range 3 {
		in := newModelInput(n, m.bad)
		m.inputs = append(m.inputs, in)
		made = append(made, expression{in.name, in.view(), func(all []things) things { return all[n] }, 1 << n})
	}
	for range sizes[0] {
		made = append(made, grow(made, next))
	}
	m.of = made[len(made)-1]
	if sizes[1] == 0 {
		return
	}
	informer := typed.NewInformer(m.of.view, typed.WithName("below"))
	m.below, m.stacked["below"] = append(m.below, informer), m.of
	others := []expression{{"informer of " + m.of.name, view.Of(informer), m.of.plain, m.of.uses}}
	for n, e := range made[:3] {
		if m.of.uses&(1<<n) == 0 { // else both could see two states of it
			others = append(others, e)
		}
	}
	for range sizes[1] {
		others = append(others, grow(others, next))
	}
	m.of = others[len(others)-1]
}

// start runs an informer.
func (m *model) start(informer *typed.Informer[*thing]) {
	m.stops = append(m.stops, run(m.t, informer))
}

func (m *model) stop() {
	for _, stop := range slices.Backward(m.stops) {
		stop()
	}
}

// add has one more informer of the view, with a handler.
func (m *model) add() {
	var informer *typed.Informer[*thing]
	informer = typed.NewInformer(m.of.view, typed.WithObserver(observer.OnStored(func() { m.checkSnapshot(informer.Snapshot()) })))
	m.informers = append(m.informers, informer)
	m.handle(informer)
	m.start(informer)
}

func (m *model) handle(informer *typed.Informer[*thing]) {
	told := &toldThings{of: informer, known: map[index.Key]*thing{}}
	m.told = append(m.told, told)
	if _, err := informer.Handle(told); err != nil {
		m.complain("Handle: %v", err)
	}
}

// play runs the informers while the inputs change.
func (m *model) play() {
	if err := m.of.view.Err(); err != nil {
		m.complain("Err: %v", err)
		return
	}
	early := m.random.IntN(2) == 0
	if early {
		m.add()
		synctest.Wait()
	}
	for _, informer := range m.below {
		m.start(informer)
	}
	for _, in := range m.inputs {
		if in.informer != nil {
			m.start(in.informer)
			in.begin(m.random)
		}
	}
	if !early {
		m.add()
	}
	for range 10 {
		m.check()
		if m.complaint != "" {
			return
		}
		switch m.random.IntN(8) {
		case 0:
			m.add()
		case 1:
			m.handle(m.informers[0])
		}
		m.write()
	}
}

// write changes the inputs, and looks at the reasons of deletions if there was one reason.
func (m *model) write() {
	reasons := map[index.Reason]bool{}
	synctest.Wait()
	for _, told := range m.told {
		told.take()
	}
	for range m.random.IntN(4) {
		reasons[m.inputs[m.random.IntN(len(m.inputs))].write(m.random)] = true
	}
	synctest.Wait()
	if m.bad {
		m.checkRejected(m.informers[:1])
		for _, in := range m.inputs {
			in.heal()
		}
		return
	}
	if len(reasons) != 1 {
		return
	}
	moved := reasons[index.Released] || reasons[index.Acquired]
	for _, told := range m.told {
		for _, reason := range told.take() {
			if wrong := reason == index.Released; wrong != moved && !reasons[index.OutOfScope] {
				m.complain("after changes for the reason %v, a deletion has the reason %v", slices.Collect(maps.Keys(reasons)), reason)
			}
		}
	}
}

// states returns the states of the inputs that a version of a view stands for.
func (m *model) states(v *view.View[*thing], version string, all []things) error {
	versions := v.ParseVersion(version)
	if versions == nil {
		return fmt.Errorf("%q is no version of %s", version, v.Name())
	}
	for _, of := range versions {
		if below, ok := m.stacked[of.Input]; ok {
			if err := m.states(below.view, of.ResourceVersion, all); err != nil {
				return err
			}
			continue
		}
		n := slices.IndexFunc(m.inputs, func(in *modelInput) bool { return in.name == of.Input })
		state, ok := m.inputs[n].at(of.ResourceVersion)
		if !ok {
			return fmt.Errorf("%s was never at version %q", of.Input, of.ResourceVersion)
		}
		all[n] = state
	}
	return nil
}

// checkSnapshot compares the objects that readers see after each step with those at its versions.
// Bad objects are not compared until they are good.
func (m *model) checkSnapshot(snapshot *index.Snapshot[*thing]) {
	if m.bad || snapshot.ResourceVersion() == "" {
		return
	}
	all := make([]things, len(m.inputs))
	if err := m.states(m.of.view, snapshot.ResourceVersion(), all); err != nil {
		m.complain("%v", err)
		return
	}
	want, got := fmt.Sprint(m.of.plain(all)), fmt.Sprint(inOrder(snapshot.All()))
	if want != got {
		m.complain("a snapshot at %s\nof   %v\nis   %s\nwant %s", snapshot.ResourceVersion(), all, got, want)
	}
}

// check compares all informers with what computing from scratch gives.
func (m *model) check() {
	synctest.Wait()
	all := make([]things, len(m.inputs))
	for n, in := range m.inputs {
		_, all[n] = in.latest()
	}
	if m.bad && slices.ContainsFunc(slices.Concat(all...), func(x *thing) bool { return x.bad }) {
		return // those that the inputs began with
	}
	want := fmt.Sprint(m.of.plain(all))
	for n, informer := range m.informers {
		if got := fmt.Sprint(inOrder(informer.All())); want != got {
			m.complain("informer %d of %d, synced %v\nof   %v\nis   %s\nwant %s\nstatus %v", n, len(m.informers), informer.Status().Err, all, got, want, m.failures())
		}
	}
	for n, told := range m.told {
		if got, wrong := told.state(); wrong != "" || want != got {
			m.complain("handler %d was told wrongly: %s\nis   %s\nwant %s", n, wrong, got, want)
		}
	}
	for _, f := range m.failures() {
		if !strings.Contains(f.Err.Error(), "are made with this name") {
			m.complain("nothing is bad, but %v: %v", f.Key, f.Err)
		}
	}
	m.checkRejected(m.informers)
	m.checkWaits()
}

func (m *model) failures() []view.Failure {
	status, err := m.of.view.Status(m.t.Context())
	if err != nil {
		m.complain("Status: %v", err)
	}
	return status.Failures
}

// checkRejected compares what informers have rejected with what the view says, which is about the
// first of them: the others took other steps, so that they may keep other objects while some are bad.
func (m *model) checkRejected(informers []*typed.Informer[*thing]) {
	status, err := m.of.view.Status(m.t.Context())
	if err != nil || status.Failing > len(status.Failures) {
		return
	}
	keys := map[index.Key]bool{}
	for _, f := range status.Failures {
		keys[f.Key] = true
	}
	for n, informer := range informers {
		if got := informer.Status().RejectedNow; got != len(keys) {
			m.complain("informer %d has rejected %v, the view says %v", n, informer.Status().RejectedObjects, status.Failures)
		}
	}
}

// checkWaits waits for the versions that the inputs are at, which have been reached.
func (m *model) checkWaits() {
	ctx, cancel := contextOf(m.t)
	defer cancel()
	for n, in := range m.inputs {
		version, _ := in.latest()
		ended := make(chan error, 1)
		go func() { ended <- m.of.view.WaitForResourceVersion(ctx, in.view(), version) }()
		synctest.Wait()
		select {
		case err := <-ended:
			if err != nil && !errors.Is(err, view.ErrNotInput) {
				m.complain("waiting for version %s of input %d: %v", version, n, err)
			}
		default:
			m.complain("version %s of input %d is not reached: %v", version, n, m.of.view.Versions())
			cancel()
			<-ended
		}
	}
}

// toldThings is a handler that plays back its events.
type toldThings struct {
	of *typed.Informer[*thing]

	mu    sync.Mutex
	known map[index.Key]*thing // guarded by mu
	gone  []index.Reason       // guarded by mu
	wrong string               // guarded by mu
}

func (h *toldThings) OnAdd(x *thing, _ bool) { h.change(index.KeyOf(x), nil, x) }

func (h *toldThings) OnUpdate(old, x *thing) { h.change(index.KeyOf(x), old, x) }

func (h *toldThings) OnDelete(d typed.Deleted[*thing]) {
	h.change(d.Key, d.Object, nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = append(h.gone, d.Reason)
}

// change notes a change from one state to another, of which nil is none.
func (h *toldThings) change(key index.Key, from, to *thing) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if before := h.known[key]; before != from && h.wrong == "" {
		h.wrong = fmt.Sprintf("%v changes from %v, was %v", key, from, before)
	}
	if to == nil {
		delete(h.known, key)
	} else {
		h.known[key] = to
	}
}

// take returns the reasons of deletions since it was called before.
func (h *toldThings) take() []index.Reason {
	h.mu.Lock()
	defer h.mu.Unlock()
	gone := h.gone
	h.gone = nil
	return gone
}

func (h *toldThings) state() (known, wrong string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprint(inOrder(maps.Values(h.known))), h.wrong
}

// run runs an informer until the returned function is called.
func run[T index.Object](t *testing.T, informer *typed.Informer[T]) (stop func()) {
	t.Helper()
	ctx, cancel := contextOf(t)
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx) }()
	return func() {
		cancel()
		assert.NoError(t, <-ended)
	}
}

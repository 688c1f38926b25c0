package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/view"
)

// TestViews: a view of views that have an informer in common is never computed from two states
// of it, equals in the end a computation from the server's objects, and delivers that state to
// its handlers.
func TestViews(t *testing.T) { simulation.Run(t, defineViews) }

// mates is a Pod with those of its value.
type mates struct {
	index.Key
	self  string // its version
	again string // its version as one of them, "" if it is not
	all   string
}

func (m *mates) GetNamespace() string { return m.Namespace }
func (m *mates) GetName() string      { return m.Name }

func matesOf(p *corev1.Pod, others iter.Seq[*corev1.Pod]) (*mates, bool) {
	m := &mates{Key: index.KeyOf(p), self: p.ResourceVersion}
	for other := range others {
		if index.KeyOf(other) == m.Key {
			m.again = other.ResourceVersion
		}
		m.all += fmt.Sprintf(" %s@%s", index.KeyOf(other), other.ResourceVersion)
	}
	return m, true
}

// isEven says which Pods are mates of others.
func isEven(p *corev1.Pod) bool {
	value, _ := valueOf(p)
	return value == "0" || value == "2" || value == "4"
}

func (m *mates) check() error {
	if m.again != "" && m.again != m.self {
		return fmt.Errorf("%s is computed from the versions %s and %s", m.Key, m.self, m.again)
	}
	return nil
}

func defineViews(s *simulation.Simulation) {
	s.Start("view", func(ctx context.Context, config *rest.Config) error {
		random := simulation.Random(ctx)
		src, err := anySource(config, random)
		if err != nil {
			return err
		}
		var opts []typed.Option
		if random.IntN(2) == 0 {
			opts = append(opts, typed.WithRecreation())
		}
		pods := typed.NewInformer(src, opts...)
		of := view.Of(pods)
		informer := typed.NewInformer(view.JoinOn(of, view.Filter(view.Of(pods), isEven), view.One(valueOf), view.One(valueOf), matesOf))
		told := newTold()
		_, err = informer.Handle(told)
		if err != nil {
			return err
		}
		simulation.Always(ctx, "no object is computed from two states of an input", func(simulation.State) error {
			for m := range informer.All() {
				if err := m.check(); err != nil {
					return err
				}
			}
			return told.err()
		})
		simulation.Eventually(ctx, "the view is what the server's objects make", goal, func(now simulation.State) error {
			want, got := matesFrom(simulation.Objects[*corev1.Pod](now)), statesOf(informer.All())
			return errors.Join(sameMates("the store", want, got), sameMates("the handler", want, told.all()))
		})
		return runAll(ctx, pods.Run, informer.Run)
	})
	s.Do(writeManyPods)
}

// runAll runs all until ctx ends.
func runAll(ctx context.Context, all ...func(context.Context) error) error {
	ended := make(chan error)
	for _, run := range all {
		go func() { ended <- run(ctx) }()
	}
	var errs []error
	for range all {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}

// matesFrom computes the view from scratch.
func matesFrom(pods []*corev1.Pod) (all []mates) {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return strings.Compare(index.KeyOf(a).String(), index.KeyOf(b).String())
	})
	for _, p := range pods {
		value, ok := valueOf(p)
		m, _ := matesOf(p, func(yield func(*corev1.Pod) bool) {
			for _, other := range pods {
				if its, has := valueOf(other); ok && has && its == value && isEven(other) && !yield(other) {
					return
				}
			}
		})
		all = append(all, *m)
	}
	return all
}

func statesOf(objects iter.Seq[*mates]) (all []mates) {
	for m := range objects {
		all = append(all, *m)
	}
	return all
}

func sameMates(what string, want, got []mates) error {
	byKey := func(a, b mates) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(want, byKey)
	slices.SortFunc(got, byKey)
	if !slices.Equal(want, got) {
		return fmt.Errorf("%s has %v, and is to have %v", what, got, want)
	}
	return nil
}

// toldMates is a handler that plays events back.
type toldMates struct {
	mu    sync.Mutex
	known map[index.Key]mates // guarded by mu
	wrong error               // guarded by mu
}

func newTold() *toldMates { return &toldMates{known: map[index.Key]mates{}} }

func (h *toldMates) OnAdd(m *mates, _ bool) { h.change(m.Key, mates{}, *m) }

func (h *toldMates) OnUpdate(old, m *mates) { h.change(m.Key, *old, *m) }

func (h *toldMates) OnDelete(d typed.Deleted[*mates]) { h.change(d.Key, *d.Object, mates{}) }

// change notes a change from one state to another, of which the zero one is none.
func (h *toldMates) change(key index.Key, from, to mates) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if before := h.known[key]; before != from {
		h.wrong = errors.Join(h.wrong, fmt.Errorf("%s changes from %v, was %v", key, from, before))
	}
	if to == (mates{}) {
		delete(h.known, key)
	} else {
		h.known[key] = to
	}
}

func (h *toldMates) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wrong
}

func (h *toldMates) all() []mates {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.known))
}

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubetyped/informer/e2e/target"
	"github.com/kubetyped/informer/e2e/workload"
)

const (
	// runLabel marks the objects of one run of this program.
	runLabel = "e2e.kubetyped.io/run"

	// roundLimit is how long it may take to measure one side once.
	roundLimit = 15 * time.Minute
)

// scene is a server that has been filled.
type scene struct {
	plan
	client     kubernetes.Interface
	kubeconfig []byte
	objects    workload.Objects
	crew       workload.Crew
	out        io.Writer
	updated    int // Pods, so far
}

// fill creates the objects on the server, and reports how far it is every second.
func fill(ctx context.Context, p plan, server *target.Target, out io.Writer) (*scene, error) {
	s := &scene{plan: p, crew: workload.Crew{Workers: p.workers, Out: out}, out: out}
	config := server.Config()
	setUp(config)
	var err error
	if s.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	if s.kubeconfig, err = server.Kubeconfig(); err != nil {
		return nil, err
	}
	for range p.namespaces {
		name, err := server.NewNamespace(ctx)
		if err != nil {
			return nil, err
		}
		s.objects.Namespaces = append(s.objects.Namespaces, name)
	}
	s.objects.Labels = map[string]string{runLabel: s.objects.Namespaces[0]}
	if server.Own() != nil { // elsewhere, Nodes would attract what runs on every Node
		s.objects.Nodes = p.nodes
		nodes := func(string) corev1client.NodeInterface { return s.client.CoreV1().Nodes() }
		if err := workload.Create(ctx, s.crew, "Nodes", p.nodes, s.objects.Node, nodes); err != nil {
			return nil, err
		}
	}
	return s, s.create(ctx)
}

// create creates what is in namespaces.
func (s *scene) create(ctx context.Context) error {
	core := s.client.CoreV1()
	if err := workload.Create(ctx, s.crew, configMaps, s.others, s.objects.ConfigMap, core.ConfigMaps); err != nil {
		return err
	}
	if err := workload.Create(ctx, s.crew, secrets, s.others, s.objects.Secret, core.Secrets); err != nil {
		return err
	}
	if err := workload.Create(ctx, s.crew, services, s.others, s.objects.Service, core.Services); err != nil {
		return err
	}
	if err := workload.Create(ctx, s.crew, endpointSlices, s.others, s.objects.EndpointSlice, s.client.DiscoveryV1().EndpointSlices); err != nil {
		return err
	}
	return s.objects.CreatePods(ctx, s.crew, s.pods, core.Pods)
}

// compare measures the sides in turns.
func (s *scene) compare(ctx context.Context) (comparison, error) {
	c := comparison{plan: s.plan, results: map[string][]measurement{}}
	for round := range s.rounds {
		for _, side := range s.turns() {
			fmt.Fprintf(s.out, "round %d of %d, %s: syncing…\n", round+1, s.rounds, side)
			m, err := s.measure(ctx, side)
			if err != nil {
				return comparison{}, err
			}
			c.results[side] = append(c.results[side], m)
		}
	}
	return c, nil
}

// measure measures a side once, in a separate process.
func (s *scene) measure(ctx context.Context, side string) (m measurement, err error) {
	running, cancel := context.WithTimeoutCause(ctx, roundLimit, fmt.Errorf("%s took longer than %v", side, roundLimit))
	defer cancel()
	p, err := startProcess(running, side)
	if err != nil {
		return measurement{}, err
	}
	defer func() {
		if ended := p.end(); err == nil {
			err = ended
		}
		if running.Err() != nil {
			err = context.Cause(running)
		}
	}()
	a, err := p.ask(request{Do: requestSync, Kubeconfig: s.kubeconfig, Selector: labels.Set(s.objects.Labels).String(), Profiles: s.profiles})
	if err != nil {
		return measurement{}, err
	}
	m.synced = *a.Synced
	fmt.Fprintf(s.out, "%s has synced: %v, %v of CPU time, %s at most\n",
		side, m.synced.Took.Round(time.Millisecond), m.synced.CPU.Round(time.Millisecond), megabytes(m.synced.Peak))
	if _, err := p.ask(request{Do: requestFollow}); err != nil {
		return measurement{}, err
	}
	version, err := s.update(running)
	if err != nil {
		return measurement{}, err
	}
	if a, err = p.ask(request{Do: requestUntil, Version: version}); err != nil {
		return measurement{}, err
	}
	m.events = *a.Events
	return m, s.check(side, m)
}

// check returns an error if a side has not seen all that it had to.
func (s *scene) check(side string, m measurement) error {
	want := map[string]int{pods: s.pods}
	for _, kind := range otherKinds {
		want[kind] = s.others
	}
	for kind, n := range want {
		if seen := m.synced.Objects[kind]; seen != n {
			return fmt.Errorf("%s has synced with %d of %d %s", side, seen, n, kind)
		}
	}
	if m.events.Updates < s.events {
		return fmt.Errorf("%s has seen %d of %d updates", side, m.events.Updates, s.events)
	}
	return nil
}

// update sends reports of kubelets on Pods, one after the other, and returns the last version
// that one of them has then.
func (s *scene) update(ctx context.Context) (last string, err error) {
	first := s.updated
	s.updated += s.events
	var mu sync.Mutex
	var versions []string
	err = s.crew.Each(ctx, "update", pods, s.events, func(ctx context.Context, i int) error {
		i += first
		pod, err := s.objects.UpdatePod(ctx, i%s.pods, 2+i/s.pods, s.client.CoreV1().Pods)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		versions = append(versions, pod.ResourceVersion)
		return nil
	})
	if err != nil {
		return "", err
	}
	return slices.MaxFunc(versions, func(a, b string) int {
		order, compareErr := resourceversion.CompareResourceVersion(a, b)
		if compareErr != nil {
			err = fmt.Errorf("compare versions of Pods: %w", compareErr)
		}
		return order
	}), err
}

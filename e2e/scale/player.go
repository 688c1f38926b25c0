package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var errInputEnded = errors.New("the input has ended")

// player measures one side, as it is asked to. Its fields are owned by the
// goroutine that answers.
type player struct {
	side     string
	requests <-chan request
	answers  *json.Encoder
	running  *errgroup.Group
	tallies  tallies

	profiles  profiles
	stopwatch stopwatch
	profiled  func() error // ends the CPU profile of events
}

// play answers the requests of in until it ends, which it has to: an interrupt
// is for the process that asks. It returns the first error; if that is of a
// request, it is also the answer.
func play(side string, in io.Reader, out io.Writer) error {
	group, ctx := errgroup.WithContext(context.Background())
	requests := make(chan request)
	p := &player{side: side, requests: requests, answers: json.NewEncoder(out), running: group, tallies: newTallies()}
	group.Go(func() error { return read(ctx, in, requests) })
	var served error
	group.Go(func() error {
		served = p.serve(ctx)
		return served
	})
	if err := group.Wait(); !errors.Is(err, errInputEnded) {
		return err
	}
	return served
}

// read passes requests on until in ends, and then returns errInputEnded.
func read(ctx context.Context, in io.Reader, requests chan<- request) error {
	for decoder := json.NewDecoder(in); ; {
		var r request
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			return errInputEnded
		} else if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		select {
		case requests <- r:
		case <-ctx.Done():
		}
	}
}

// serve answers the requests one after the other.
func (p *player) serve(ctx context.Context) error {
	for _, step := range []struct {
		do     string
		answer func(context.Context, request) (answer, error)
	}{{requestSync, p.sync}, {requestFollow, p.follow}, {requestUntil, p.until}} {
		var r request
		select {
		case r = <-p.requests:
		case <-ctx.Done():
			return nil
		}
		a, err := answer{}, fmt.Errorf("asked to %q when it was time to %q", r.Do, step.do)
		if r.Do == step.do {
			a, err = step.answer(ctx, r)
		}
		if ctx.Err() != nil {
			return nil // the client no longer waits for an answer
		}
		if err != nil {
			a = answer{Err: err.Error()}
		}
		if err := errors.Join(err, p.answers.Encode(a)); err != nil {
			return err
		}
	}
	return nil
}

// sync makes the informers and waits until they have synced.
func (p *player) sync(ctx context.Context, r request) (a answer, err error) {
	p.profiles = profiles{dir: r.Profiles, side: p.side}
	profiled, err := p.profiles.startCPU("sync")
	if err != nil {
		return answer{}, err
	}
	watch, err := startStopwatch()
	if err != nil {
		return answer{}, err
	}
	informers, err := p.informers(r)
	if err != nil {
		return answer{}, err
	}
	p.running.Go(func() error { return informers.run(ctx) })
	if err := informers.waitForSync(ctx); err != nil {
		return answer{}, err
	}
	result := &synced{Objects: map[string]int{}}
	if result.usage, err = watch.read(); err != nil {
		return answer{}, err
	}
	result.Heap = liveHeap()
	for kind, t := range p.tallies {
		updates, others := t.reset()
		result.Objects[kind] = updates + others
	}
	return answer{Synced: result}, errors.Join(profiled(), p.profiles.heap())
}

// informers makes the informers of the side. Both sides have the same client.
func (p *player) informers(r request) (informers, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(r.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	setUp(config)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	selector, err := labels.Parse(r.Selector)
	if err != nil {
		return nil, fmt.Errorf("parse the selector: %w", err)
	}
	return sides[p.side](client, selector, p.tallies)
}

// setUp makes clients speak protobuf, and as often as they like.
func setUp(config *rest.Config) {
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.QPS = -1
}

// follow begins to count events.
func (p *player) follow(context.Context, request) (a answer, err error) {
	if p.profiled, err = p.profiles.startCPU("events"); err != nil {
		return answer{}, err
	}
	p.stopwatch, err = startStopwatch()
	return answer{}, err
}

// until waits for the last event.
func (p *player) until(ctx context.Context, r request) (a answer, err error) {
	reached, err := p.tallies[pods].reach(r.Version)
	if err != nil {
		return answer{}, err
	}
	select {
	case <-reached:
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
	result := &events{}
	if result.usage, err = p.stopwatch.read(); err != nil {
		return answer{}, err
	}
	for kind, t := range p.tallies {
		updates, others := t.reset()
		result.Others += others
		if kind == pods {
			result.Updates = updates
		} else {
			result.Others += updates
		}
	}
	return answer{Events: result}, p.profiled()
}

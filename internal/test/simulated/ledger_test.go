package simulated_test

import (
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// ledger records the writes of a controller for each of its keys, and checks that it reads all
// of them when the key is processed again.
type ledger struct {
	informer *typed.Informer[*corev1.Pod]

	mu     sync.Mutex
	writes map[index.Key]entry // guarded by mu
	wrong  error               // guarded by mu; the first
}

// entry is what was written for one key.
type entry struct {
	version string                  // of the last write
	deleted map[types.UID]index.Key // what was deleted
	at      time.Time               // of the last write
}

// wrote notes a write of a key.
func (l *ledger) wrote(key index.Key, version string) {
	l.change(key, func(e *entry) {
		if e.version == "" || older(e.version, version) {
			e.version = version
		}
	})
}

// removed notes the deletion of a Pod.
func (l *ledger) removed(key index.Key, p *corev1.Pod) {
	l.change(key, func(e *entry) { e.deleted[p.UID] = index.KeyOf(p) })
}

func (l *ledger) change(key index.Key, change func(*entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writes == nil {
		l.writes = map[index.Key]entry{}
	}
	e, ok := l.writes[key]
	if !ok {
		e.deleted = map[types.UID]index.Key{}
	}
	change(&e)
	e.at = time.Now()
	l.writes[key] = e
}

// begin looks whether what was written is read, when a key is processed. That is not
// promised any more when the last write is some time ago.
func (l *ledger) begin(key index.Key, within time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.writes[key]
	delete(l.writes, key)
	if !ok || time.Since(e.at) >= within || l.wrong != nil {
		return
	}
	if at := l.informer.ResourceVersion(); e.version != "" && older(at, e.version) {
		l.wrong = fmt.Errorf("%s is processed at version %s, and has written version %s", key, at, e.version)
	}
	for uid, at := range e.deleted {
		if p, ok := l.informer.Get(at); ok && p.UID == uid && p.DeletionTimestamp == nil {
			l.wrong = fmt.Errorf("%s is processed with %s, which it has deleted", key, at)
		}
	}
}

// check returns the first thing that was wrong.
func (l *ledger) check(simulation.State) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wrong
}

package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// searched is how many elements of a queue's lists, and of expectations, are looked through
// for a key.
const searched = 1000

// Explain returns what all parts know of a key. The contents of the object are there only
// with WithObjectContents.
func (i *Inspector) Explain(key index.Key) snapshot.Key {
	parts := i.settings()
	return explain(&parts, key)
}

func explain(parts *settings, key index.Key) snapshot.Key {
	k := snapshot.Key{
		Time: time.Now(), Namespace: key.Namespace, Name: key.Name,
		Informers: []snapshot.KeyInformer{}, Queues: []snapshot.KeyQueue{}, Expectations: []snapshot.KeyExpectation{},
	}
	ids := identities{}
	for _, informer := range parts.allInformers() {
		if of := keyInformerOf(informer, key, parts.contents, ids); of != nil {
			k.Informers = append(k.Informers, *of)
		} else {
			k.Without++
		}
	}
	for n, part := range parts.queues {
		if of := keyQueueOf(part, n, key, ids, k.Time); of != nil {
			k.Queues = append(k.Queues, *of)
		}
	}
	for _, part := range parts.expecting {
		id := ids.of("expectations", part.name)
		for _, pending := range part.expectations.Report(searched) {
			if !isKey(pending.Key, key) {
				continue
			}
			k.Expectations = append(k.Expectations, snapshot.KeyExpectation{ID: id, Name: part.name, Expectation: snapshot.Expectation{
				Key: pending.Key, Waiting: pending.Waiting, For: append([]string{}, pending.For...),
				Since: pending.Since, Deadline: pending.Deadline,
			}})
		}
	}
	k.Verdicts = verdictsOf(&k)
	return k
}

// isKey reports whether a key in words is a key. Some are written with a slash although
// there is no namespace.
func isKey(words string, key index.Key) bool {
	return strings.TrimPrefix(words, "/") == key.String()
}

// keyInformerOf returns what an informer knows of a key, nil if nothing.
func keyInformerOf(informer typed.AnyInformer, key index.Key, contents bool, ids identities) *snapshot.KeyInformer {
	s := informer.Status()
	known := informer.Explain(key)
	of := &snapshot.KeyInformer{
		ID: ids.of("informer", s.Name), Name: s.Name,
		Found: known.Found, UID: string(known.UID), ResourceVersion: known.ResourceVersion, Rejected: textOf(known.Rejected),
		Indexes: []snapshot.KeyIndex{}, Events: []snapshot.KeyEvent{}, Handlers: []snapshot.KeyHandler{},
	}
	for n := range s.Handlers {
		h := snapshot.KeyHandler{Name: s.Handlers[n].Name}
		if current := s.Handlers[n].Current; current != nil && current.Key == key {
			h.Current = callOf(current)
		}
		if slowest := s.Handlers[n].Slowest; slowest != nil && slowest.Key == key {
			h.Slowest = callOf(slowest)
		}
		if h.Current != nil || h.Slowest != nil {
			of.Handlers = append(of.Handlers, h)
		}
	}
	for _, e := range known.Events {
		of.Events = append(of.Events, snapshot.KeyEvent{Type: e.Type.String(), Reason: e.Reason.String(), ResourceVersion: e.ResourceVersion, At: e.At})
	}
	if !of.Found && of.Rejected == "" && len(of.Events) == 0 && len(of.Handlers) == 0 {
		return nil
	}
	secret := hasSecrets(informer, s.Origin)
	for name, keys := range known.Indexes {
		in := snapshot.KeyIndex{Index: name, Keys: []string{}, Count: len(keys)}
		if !secret {
			in.Keys = append(in.Keys, keys...)
		}
		of.Indexes = append(of.Indexes, in)
	}
	slices.SortFunc(of.Indexes, func(a, b snapshot.KeyIndex) int { return strings.Compare(a.Index, b.Index) })
	if of.Found {
		of.Object, of.Withheld = objectOf(informer, s.Origin, key, contents)
	}
	return of
}

// keyQueueOf returns what a queue, the n-th, knows of a key, nil if nothing.
func keyQueueOf(part queuePart, n int, key index.Key, ids identities, now time.Time) *snapshot.KeyQueue {
	r := queueOf(part.queue, n, ids, now)
	of := &snapshot.KeyQueue{ID: r.ID, Name: r.Name}
	if s, known := part.state(key, key.String()); known {
		of.Known = true
		of.WaitingSince, of.WorkSince, of.DelayedUntil = s.Waiting, s.InWork, s.DelayedUntil
		of.Again, of.Priority = s.Dirty, s.Priority
		if s.Failing != nil {
			failing := failingOf(s.Failing)
			of.Failing = &failing
		}
	} else {
		searchLists(of, part.queue, key, now)
	}
	if of.WaitingSince.IsZero() && of.WorkSince.IsZero() && of.DelayedUntil.IsZero() && of.Failing == nil {
		return nil
	}
	return of
}

// searchLists looks for a key in the lists of a queue's report.
func searchLists(of *snapshot.KeyQueue, q Queue, key index.Key, now time.Time) {
	r := q.Report(searched)
	if r.Waiting > 0 && isKey(r.Oldest, key) {
		of.WaitingSince = now.Add(-r.OldestAge)
	}
	for _, work := range r.InWork {
		if isKey(work.Key, key) {
			of.WorkSince = work.Began
		}
	}
	for n := range r.Failing {
		if isKey(r.Failing[n].Key, key) {
			failing := failingOf(&r.Failing[n])
			of.Failing = &failing
		}
	}
}

// verdictsOf says what is to be known first of a key.
func verdictsOf(k *snapshot.Key) []snapshot.Verdict {
	verdicts := []snapshot.Verdict{}
	add := func(severity snapshot.Severity, format string, args ...any) {
		verdicts = append(verdicts, snapshot.Verdict{Severity: severity, Text: fmt.Sprintf(format, args...)})
	}
	found := 0
	for n := range k.Informers {
		of := &k.Informers[n]
		if of.Found {
			found++
		}
		if of.Rejected != "" {
			add(snapshot.Error, "Its latest state could not be used by informer %s", of.Name)
		}
		for _, h := range of.Handlers {
			if h.Current != nil {
				add(snapshot.Warning, "Handler %s of informer %s is in a call for it, for %s", h.Name, of.Name, secondsText(h.Current.Seconds))
			}
		}
	}
	for n := range k.Queues {
		q := &k.Queues[n]
		if f := q.Failing; f != nil {
			add(snapshot.Error, "It fails in queue %s for %s, %s in a row", q.Name, since(k.Time, f.Since), counted(f.Failures, "time"))
		}
		if !q.WorkSince.IsZero() {
			add(snapshot.Note, "It is worked on in queue %s for %s", q.Name, since(k.Time, q.WorkSince))
		}
		if !q.WaitingSince.IsZero() {
			add(snapshot.Note, "It waits in queue %s for %s", q.Name, since(k.Time, q.WaitingSince))
		}
		if !q.DelayedUntil.IsZero() {
			add(snapshot.Note, "It is added to queue %s in %s", q.Name, since(q.DelayedUntil, k.Time))
		}
	}
	for n := range k.Expectations {
		if k.Expectations[n].Waiting {
			add(snapshot.Warning, "It is put off until its own writes are seen: %s", strings.Join(k.Expectations[n].For, ", "))
		}
	}
	add(snapshot.Note, "It is in the stores of %d of %s", found, counted(len(k.Informers)+k.Without, "informer"))
	slices.SortStableFunc(verdicts, func(a, b snapshot.Verdict) int { return rankOf(a.Severity) - rankOf(b.Severity) })
	return verdicts
}

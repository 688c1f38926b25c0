package inspect

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// listed is how many elements the lists of a report have at most, such as failing keys.
const listed = 20

// report returns the state of all parts now.
func (i *Inspector) report(ctx context.Context, parts *settings) snapshot.Report {
	r := snapshot.Report{
		Title:        parts.title,
		Time:         time.Now(),
		Problems:     []snapshot.Problem{},
		Informers:    []snapshot.Informer{},
		Queues:       []snapshot.Queue{},
		Expectations: []snapshot.Expectations{},
		Groups:       []snapshot.Group{},
		Fleets:       []snapshot.Fleet{},
		Writes:       []snapshot.Writes{},
		Controllers:  []snapshot.Controller{},
	}
	ids := identities{}
	i.addInformers(ctx, &r, parts, ids)
	for n, part := range parts.queues {
		r.Queues = append(r.Queues, queueOf(part.queue, n, ids, r.Time))
	}
	for _, part := range parts.expecting {
		r.Expectations = append(r.Expectations, expectationsOf(part, ids))
	}
	for _, group := range parts.groups {
		r.Groups = append(r.Groups, groupOf(group, ids))
	}
	for _, part := range parts.fleets {
		r.Fleets = append(r.Fleets, fleetOf(part, ids))
	}
	for n, writes := range parts.writes {
		if !slices.Contains(parts.writes[:n], writes) {
			r.Writes = append(r.Writes, writesOf(writes, ids))
		}
	}
	for _, controllers := range parts.controllers {
		for _, of := range controllers() {
			of.ID = ids.of("controller", of.Name)
			r.Controllers = append(r.Controllers, of)
		}
	}
	if parts.sharing != nil {
		sharing := parts.sharing()
		r.Deduplication = &sharing
	}
	r.Totals = totalsOf(&r)
	r.Problems = append(r.Problems, problemsOf(&r, parts.moreProblems(&r)...)...)
	i.growth.forget(r.Time.Add(-2 * courseLength))
	return r
}

// moreProblems returns the problems that the program has added.
func (p *parts) moreProblems(r *snapshot.Report) (more []snapshot.Problem) {
	for _, problems := range p.problems {
		for _, problem := range problems() {
			is := func(of snapshot.Informer) bool { return of.Name == problem.Name }
			if n := slices.IndexFunc(r.Informers, is); n >= 0 && problem.Part == "" {
				problem.Part = r.Informers[n].ID
			}
			more = append(more, problem)
		}
	}
	return more
}

// addInformers adds the informers to a report, the one that costs most first.
func (i *Inspector) addInformers(ctx context.Context, r *snapshot.Report, parts *settings, ids identities) {
	informers := parts.allInformers()
	weights := i.heaps.of(ctx, informers)
	var sum int64
	for _, w := range weights {
		sum += w.heap.Bytes
	}
	for n, informer := range informers {
		status := informer.Status()
		of := informerOf(&status, ids)
		addWeight(of, &weights[n], sum)
		for h := range of.Handlers {
			handler := &of.Handlers[h]
			handler.Growth = i.growth.rate(of.ID+" "+strconv.Itoa(h)+" "+handler.Name, handler.Backlog, r.Time)
		}
		r.Informers = append(r.Informers, *of)
	}
	slices.SortStableFunc(r.Informers, byCost)
}

// byCost puts what costs more first: heap, then the backlog of handlers, then time in calls.
func byCost(a, b snapshot.Informer) int {
	return cmp.Or(
		cmp.Compare(heapBytes(&b), heapBytes(&a)),
		cmp.Compare(backlog(&b), backlog(&a)),
		cmp.Compare(callSeconds(&b), callSeconds(&a)),
		cmp.Compare(b.Objects, a.Objects),
		cmp.Compare(a.Name, b.Name))
}

// heapBytes returns what the objects of an informer take, 0 if that is not known.
func heapBytes(of *snapshot.Informer) int64 {
	if of.Heap == nil {
		return 0
	}
	return of.Heap.Bytes
}

// backlog returns how many events the handlers of an informer have not returned from.
func backlog(of *snapshot.Informer) (sum int) {
	for n := range of.Handlers {
		sum += of.Handlers[n].Backlog
	}
	return sum
}

// callSeconds returns how long the calls of an informer's handlers took.
func callSeconds(of *snapshot.Informer) (sum float64) {
	for n := range of.Handlers {
		if times := of.Handlers[n].Times; times != nil {
			sum += times.SumSeconds
		}
	}
	return sum
}

// totalsOf returns sums over all parts.
func totalsOf(r *snapshot.Report) (t snapshot.Totals) {
	t.Informers = len(r.Informers)
	for n := range r.Informers {
		of := &r.Informers[n]
		if of.Phase == "Synced" {
			t.Synced++
		}
		if of.Error != "" {
			t.Failing++
		}
		t.Objects += of.Objects
		t.HeapBytes += heapBytes(of)
		t.Backlog += backlog(of)
		if of.Traffic != nil {
			t.ReceivedBytes += of.Traffic.Bytes
		}
	}
	for n := range r.Queues {
		t.Waiting += r.Queues[n].Waiting
		t.InWork += r.Queues[n].InWork
		t.FailingKeys += r.Queues[n].FailingKeys
	}
	return t
}

// groupOf returns the state of a member of a group.
func groupOf(g Group, ids identities) snapshot.Group {
	s := g.Status()
	return snapshot.Group{
		ID: ids.of("group", g.Name()), Name: g.Name(),
		Identity: s.Identity, Members: append([]string{}, s.Members...),
		Ranges: s.Ranges, Wanted: s.Wanted, Leaving: s.Leaving, Calls: s.Calls,
		Valid: s.Valid, Renewed: s.Renewed, Lost: s.Lost, Error: textOf(s.Err),
	}
}

// fleetOf returns the state of an informer's clusters.
func fleetOf(part fleetPart, ids identities) snapshot.Fleet {
	f := snapshot.Fleet{ID: ids.of("fleet", part.name), Name: part.name, Clusters: []snapshot.Cluster{}}
	for _, s := range part.fleet.Status() {
		f.Clusters = append(f.Clusters, clusterOf(&s))
	}
	return f
}

// clusterOf returns the state of a cluster.
func clusterOf(s *fleet.ClusterStatus) snapshot.Cluster {
	return snapshot.Cluster{
		Name: s.Cluster, Phase: s.Phase.String(), Objects: s.Objects, ResourceVersion: s.ResourceVersion,
		Received: s.Received, Expected: s.Expected, Lists: s.Lists,
		LastContact: s.LastContact, Stale: s.Stale(),
		Error: textOf(s.Err), Failures: s.Failures, FailingSince: s.Since, LastError: textOf(s.LastErr),
	}
}

// identities gives parts their IDs: short, safe in links, the same in every report as long
// as parts of one name stay in their order. It has how many there were of each.
type identities map[string]int

// of returns the ID of the next part of a sort and name.
func (ids identities) of(sort, name string) string {
	hash := fnv.New32a()
	hash.Write([]byte(name))
	id := sort + "-" + hex.EncodeToString(hash.Sum(nil))
	ids[id]++
	if n := ids[id]; n > 1 {
		id += "-" + strconv.Itoa(n)
	}
	return id
}

// maxText is up to how many bytes of an error are shown: some have a whole answer of a server
// in them.
const maxText = 4 << 10

// cut returns a text, or its beginning if it is long.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + " … (" + bytesText(int64(len(text))) + " in all)"
}

// textOf returns the text of an error, "" if there is none, cut if it is long. Error methods
// are other people's.
func textOf(err error) (text string) {
	if err == nil {
		return ""
	}
	defer func() {
		if p := recover(); p != nil {
			goroutine.Report(context.Background(), p)
			text = cut(fmt.Sprintf("an error of type %T, whose text cannot be had: %v", err, p))
		}
	}()
	if text = err.Error(); text == "" {
		text = fmt.Sprintf("an error of type %T without a text", err)
	}
	return cut(text)
}

// writesOf returns the counts of the answers to own writes.
func writesOf(part Writes, ids identities) snapshot.Writes {
	status := part.Status()
	name := cmp.Or(status.Server, "no API server yet")
	w := snapshot.Writes{
		ID: ids.of("writes", name), Name: name,
		Taken: status.Taken, Ignored: status.Ignored, Late: status.Late, LeftOut: []snapshot.LeftOut{},
	}
	for _, reason := range slices.Sorted(maps.Keys(status.LeftOut)) {
		w.LeftOut = append(w.LeftOut, snapshot.LeftOut{Reason: reason, Answers: status.LeftOut[reason]})
	}
	return w
}

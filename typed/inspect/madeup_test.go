package inspect_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/report"
)

// noon is when made-up reports are made.
var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// before returns a time before noon.
func before(d time.Duration) time.Time { return noon.Add(-d) }

// forbiddenText is the answer of an API server to a client that may not list Secrets.
const forbiddenText = `failed to list *v1.Secret: secrets is forbidden: User "system:serviceaccount:shop:shop-controller" cannot list resource "secrets" in API group "" at the cluster scope`

// madeUp returns the report of a program with everything that a page shows, in which
// something is wrong with most parts.
func madeUp() *snapshot.Report {
	r := &snapshot.Report{
		Title: "shop-controller", Time: noon,
		Informers: []snapshot.Informer{
			madeUpPods(), madeUpConfigMaps(), madeUpInformer("Deployment", "deployments", "apps/v1", 412, 3<<20),
			madeUpInformer("Order", "orders", "shop.example.com/v1", 1284, 2<<20), madeUpInformer("Node", "nodes", "v1", 96, 1<<20),
			madeUpSecrets(),
		},
		Queues: []snapshot.Queue{{
			ID: "queue-1", Name: "orders", Waiting: 37, InWork: 4, Again: 1, Delayed: 12, Retries: 211, OldestSeconds: 94, Oldest: "shop/order-1182",
			Priorities: []snapshot.Priority{{Priority: 10, Waiting: 2}, {Priority: 0, Waiting: 23}, {Priority: -100, Waiting: 12}},
			Work: []snapshot.Work{
				{Key: "shop/order-0977", Began: before(7 * time.Minute), Seconds: 420, Stuck: true},
				{Key: "shop/order-1180", Began: before(time.Second), Seconds: 1.2}, {Key: "shop/order-0012", Began: before(time.Second), Seconds: 0.3},
				{Key: "shop/order-0400", Began: before(time.Second), Seconds: 0.1},
			},
			Failing: []snapshot.Failing{
				{Key: "shop/order-0815", Failures: 41, Since: before(3 * time.Hour), Last: before(50 * time.Second), Error: `Deployment.apps "order-0815" is invalid: spec.template.spec.containers[0].image: Required value`},
				{Key: "shop/order-1100", Failures: 2, Since: before(9 * time.Second), Last: before(4 * time.Second), Error: `Operation cannot be fulfilled on orders.shop.example.com "order-1100": the object has been modified`},
			},
			FailingKeys: 2, Stuck: 1,
		}},
		Expectations: []snapshot.Expectations{{
			ID: "expectations-1", Name: "orders", Keys: 3, Waiting: 1, PutOff: 1902, Expired: 2,
			Pending: []snapshot.Expectation{{Key: "shop/order-1177", Waiting: true, For: []string{`informer deployments: version 91822, is at "91804"`}, Since: before(2 * time.Second), Deadline: noon.Add(3 * time.Minute)}},
		}},
		Groups: []snapshot.Group{{
			ID: "group-1", Name: "shop-controller", Identity: "shop-controller-7f6d8-x2x9p",
			Members: []string{"shop-controller-7f6d8-4kq2m", "shop-controller-7f6d8-x2x9p", "shop-controller-7f6d8-zz8fd"},
			Ranges:  85, Wanted: 1, Calls: 4, Valid: true, Renewed: before(2 * time.Second),
		}},
		Fleets: []snapshot.Fleet{{ID: "fleet-1", Name: "pods of all clusters", Clusters: []snapshot.Cluster{
			{Name: "east", Phase: "Synced", Objects: 8120, ResourceVersion: "5529081", Lists: 1, LastContact: before(3 * time.Second)},
			{Name: "west", Phase: "Stale", Objects: 3977, ResourceVersion: "1182277", Lists: 1, LastContact: before(26 * time.Minute), Stale: true,
				Error: "cluster west: dial tcp 10.8.0.1:6443: connect: connection refused", Failures: 31, FailingSince: before(25 * time.Minute), LastError: "cluster west: dial tcp 10.8.0.1:6443: connect: connection refused"},
		}}},
		Writes: []snapshot.Writes{{
			ID: "writes-1", Name: "10.0.0.1:6443", Taken: 12_204, Ignored: 311, Late: 2,
			LeftOut: []snapshot.LeftOut{{Reason: "dry run", Answers: 4}, {Reason: "failed", Answers: 53}},
		}},
		Controllers: []snapshot.Controller{{
			ID: "controller-1", Name: "invoice", Workers: 2, Active: 1, Succeeded: 8123, Requeued: 41, Failed: 12, TerminalErrors: 1, Timeouts: 2, Panics: 3,
			MeanSeconds: 0.0213, Waiting: 5, Added: 9042, Retries: 53, LongestSeconds: 75,
		}},
		Deduplication: &snapshot.Deduplication{Parts: 20_411, Bytes: 2 << 20, Looked: 410_377, Found: 369_339},
	}
	var sum int64
	for n := range r.Informers {
		if heap := r.Informers[n].Heap; heap != nil {
			sum += heap.Bytes
		}
	}
	for n := range r.Informers {
		if heap := r.Informers[n].Heap; heap != nil {
			heap.Share = float64(heap.Bytes) / float64(sum)
		}
	}
	slices.SortStableFunc(r.Informers, inspect.ByCost)
	r.Totals = inspect.TotalsOf(r)
	r.Problems = inspect.ProblemsOf(r)
	return r
}

// madeUpInformer returns an informer with which nothing is wrong.
func madeUpInformer(kind, resource, version string, objects int, bytes int64) snapshot.Informer {
	site := snapshot.CallSite{Function: "main.run", File: "/src/shop/main.go", Line: 40 + len(kind), Short: fmt.Sprintf("shop/main.go:%d", 40+len(kind))}
	return snapshot.Informer{
		ID: "informer-" + resource, Name: resource + " at 10.0.0.1:6443", APIVersion: version, Kind: kind, Resource: resource, Host: "10.0.0.1:6443",
		Created: &site, Holders: []snapshot.CallSite{site},
		Phase: "Synced", ResourceVersion: "5529077", LastEvent: before(4 * time.Minute), LastContact: before(30 * time.Second), WatchSince: before(5 * time.Hour), Watches: 3,
		Objects: objects, Events: objects * 7, Received: objects, Expected: objects, QueuedMax: 12,
		Traffic: &snapshot.Traffic{Bytes: uint64(bytes) * 3, Frames: uint64(objects) * 7, DecodingSeconds: float64(objects) / 20_000},
		Heap:    &snapshot.Heap{Bytes: bytes, Objects: objects, Sampled: min(objects, 256), At: before(time.Second)},
		Indexes: []snapshot.Index{{Name: "namespace", Keys: 12, Largest: objects / 3}},
		Handlers: []snapshot.Handler{{
			Name: "enqueue " + resource, Delivery: "EveryEvent()", Synced: true,
			Times:   madeUpTimes(0, 2210, 877, 31, 4),
			Slowest: &snapshot.Call{Type: "Updated", Key: "shop/" + resource + "-1", Began: before(2 * time.Hour), Seconds: 0.0042},
		}},
	}
}

// madeUpTimes returns a histogram with so many calls in its buckets.
func madeUpTimes(counts ...uint64) *snapshot.Times {
	t := &snapshot.Times{}
	for n := range len(report.CallBounds) + 1 {
		b := snapshot.Bucket{}
		if n < len(counts) {
			b.Calls = counts[n]
		}
		at := 100.0
		if n < len(report.CallBounds) {
			b.UpToSeconds = report.CallBounds[n].Seconds()
			at = b.UpToSeconds * 0.7
		}
		t.Calls += b.Calls
		t.SumSeconds += at * float64(b.Calls)
		t.Buckets = append(t.Buckets, b)
	}
	t.MeanSeconds = t.SumSeconds / float64(max(1, t.Calls))
	t.Recent = &snapshot.Recent{Calls: t.Calls / 100, MeanSeconds: t.MeanSeconds, MaxSeconds: 20 * t.MeanSeconds}
	return t
}

// madeUpPods returns an informer that holds much, with a handler that is slow and behind.
func madeUpPods() snapshot.Informer {
	of := madeUpInformer("Pod", "pods", "v1", 12_097, 84<<20)
	of.Namespace, of.Selection = "shop", "labels app=web"
	of.Name = "pods in shop labels app=web at 10.0.0.1:6443"
	of.LastEvent, of.LastContact = before(time.Second), before(time.Second)
	of.Ahead, of.AheadVersion = 2, "5529083"
	of.Followed = &snapshot.Followed{
		Held: 81, Idle: 2, Limit: 1000, Pending: 1, Present: 79, Absent: 2, Refused: 1, Unheld: 1, LiveReads: 14,
		Unfollowed: []snapshot.Unfollowed{{Key: "shop/web-0", Error: "pods is forbidden", Since: before(3 * time.Minute)}, {Key: "shop/web-1000", Error: "too many names"}},
	}
	of.Budget = &snapshot.Budget{Objects: 14_000, Bytes: 128 << 20, Kept: 12_097, HeapBytes: 84 << 20, Used: 0.864, Since: before(40 * time.Minute)}
	of.FactoryBudget = &snapshot.Budget{Objects: 40_000, Kept: 15_234, Used: 0.381}
	of.Indexes = append(of.Indexes, snapshot.Index{Name: "node", Keys: 96, Largest: 212}, snapshot.Index{Name: "label app", Keys: 1, Largest: 12_097})
	of.Rejected, of.RejectedNow = 3, 1
	of.RejectedObjects = []snapshot.Rejected{{Key: "shop/web-broken", Error: "index node: panic: runtime error: invalid memory address or nil pointer dereference"}}
	of.Handlers = append(of.Handlers, snapshot.Handler{
		Name: "export to billing", Delivery: "EveryEvent()", Synced: true, Backlog: 4210, Growth: 11.2,
		Panics: 2, LastPanic: "runtime error: index out of range [3] with length 3", LastPanicAt: before(20 * time.Minute),
		Times:   madeUpTimes(0, 0, 12, 88, 301, 911, 2201, 902, 77, 12, 1),
		Current: &snapshot.Call{Type: "Updated", Key: "shop/web-5c9f-7xk2p", Began: before(900 * time.Millisecond), Seconds: 0.9},
		Slowest: &snapshot.Call{Type: "Added", Key: "shop/web-5c9f-q9zzt", Began: before(80 * time.Minute), Seconds: 7.31},
	})
	return of
}

// madeUpConfigMaps returns an informer with a handler that is stuck.
func madeUpConfigMaps() snapshot.Informer {
	of := madeUpInformer("ConfigMap", "configmaps", "v1", 640, 214<<20)
	of.Handlers = append(of.Handlers, snapshot.Handler{
		Name: "reload", Delivery: "Coalesce()", Synced: true, Backlog: 18, Stuck: true,
		Times:   madeUpTimes(0, 0, 200, 3),
		Current: &snapshot.Call{Type: "Updated", Key: "shop/prices", Began: before(22 * time.Minute), Seconds: 1320},
	})
	return of
}

// madeUpSecrets returns an informer that has not the right to list.
func madeUpSecrets() snapshot.Informer {
	of := madeUpInformer("Secret", "secrets", "v1", 0, 0)
	of.Phase, of.Error, of.Forbidden, of.Failures, of.FailingSince = "Syncing", forbiddenText, true, 29, before(14*time.Minute)
	of.LastError, of.ResourceVersion, of.LastEvent, of.LastContact, of.WatchSince, of.Watches = forbiddenText, "", time.Time{}, time.Time{}, time.Time{}, 0
	of.Heap, of.Traffic, of.Indexes, of.Events, of.Expected = &snapshot.Heap{At: noon}, nil, nil, 0, 0
	of.Handlers[0].Times, of.Handlers[0].Slowest, of.Handlers[0].Synced = nil, nil, false
	return of
}

// madeUpKey returns what is known of a key.
func madeUpKey() *snapshot.Key {
	k := &snapshot.Key{
		Time: noon, Namespace: "shop", Name: "order-0815", Without: 4,
		Informers: []snapshot.KeyInformer{
			{
				ID: "informer-orders", Name: "orders at 10.0.0.1:6443", Found: true, UID: "0c6e2c1a-51b1-4a4b-9b05-54a9a2d7f5b6", ResourceVersion: "5528111",
				Indexes: []snapshot.KeyIndex{{Index: "namespace", Keys: []string{"shop"}, Count: 1}, {Index: "customer", Keys: []string{"acme", "acme/emea"}, Count: 2}},
				Events: []snapshot.KeyEvent{
					{Type: "Updated", Reason: "Watched", ResourceVersion: "5528111", At: before(50 * time.Second)},
					{Type: "Updated", Reason: "Watched", ResourceVersion: "5519020", At: before(3 * time.Hour)},
					{Type: "Added", Reason: "Listed", ResourceVersion: "5400123", At: before(5 * time.Hour)},
				},
				Handlers: []snapshot.KeyHandler{{Name: "enqueue orders", Slowest: &snapshot.Call{Type: "Updated", Key: "shop/order-0815", Began: before(3 * time.Hour), Seconds: 0.0042}}},
				Object:   []byte(`{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"name":"order-0815","namespace":"shop"},"spec":{"customer":"acme","items":[{"sku":"a-1","count":3}]}}`),
			},
			{
				ID: "informer-deployments", Name: "deployments at 10.0.0.1:6443", Rejected: "transform: the label shop.example.com/order is missing",
				Events: []snapshot.KeyEvent{{Type: "Deleted", Reason: "Watched", ResourceVersion: "5528100", At: before(55 * time.Second)}},
			},
		},
		Queues: []snapshot.KeyQueue{{
			ID: "queue-1", Name: "orders", Known: true, DelayedUntil: noon.Add(4 * time.Minute),
			Failing: &snapshot.Failing{Key: "shop/order-0815", Failures: 41, Since: before(3 * time.Hour), Last: before(50 * time.Second), Error: `Deployment.apps "order-0815" is invalid: spec.template.spec.containers[0].image: Required value`},
		}},
		Expectations: []snapshot.KeyExpectation{{ID: "expectations-1", Name: "orders", Expectation: snapshot.Expectation{
			Key: "shop/order-0815", Waiting: true, For: []string{`informer deployments: version 91822, is at "91804"`}, Since: before(2 * time.Second), Deadline: noon.Add(3 * time.Minute)}}},
	}
	k.Verdicts = inspect.VerdictsOf(k)
	return k
}

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// label of a Pod names its parent; the index has the same name.
const label = "parent"

// mostTimes is how many times as many Pods as it should have a parent may get, before the
// reconciler gives up.
const mostTimes = 10

// parent is one of those that get Pods.
type parent struct {
	made    int       // Pods
	last    string    // version of the last Pod; "": there is none
	wrote   time.Time // when the last create was answered; zero: it has been read since
	unseen  time.Time // the same, zero: its event has come
	seen    string    // version of the last event; "": there was none
	settled bool      // none of its Pods is missing
}

// result is the output of the program.
type result struct {
	Reconciles, Stale, Skipped, Made, Doubles int

	Took  time.Duration // from the first write to the last read
	Write time.Duration // median of one
	Next  time.Duration // median from a write to the next reconcile that reads it
	Lag   time.Duration // median from a write to its event
}

// reconciler creates the Pods of parents.
type reconciler struct {
	client.Client
	reader client.Reader
	done   func()

	mu                  sync.Mutex
	parents             map[string]*parent // guarded by mu
	settled             int                // guarded by mu
	counts              result             // guarded by mu
	began               time.Time          // guarded by mu
	writes, nexts, lags []time.Duration    // guarded by mu
}

func newReconciler(mgr ctrl.Manager, done func()) *reconciler {
	r := &reconciler{Client: mgr.GetClient(), reader: mgr.GetClient(), done: done, parents: map[string]*parent{}}
	if *way == live {
		r.reader = mgr.GetAPIReader()
	}
	return r
}

// of returns the parent with a name. The caller holds mu.
func (r *reconciler) of(name string) *parent {
	if r.parents[name] == nil {
		r.parents[name] = &parent{}
	}
	return r.parents[name]
}

// childSeen returns the parent of a Pod whose event has come.
func (r *reconciler) childSeen(_ context.Context, pod *corev1.Pod) []reconcile.Request {
	name := pod.Labels[label]
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.of(name)
	if isOlder(p.seen, pod.ResourceVersion) {
		p.seen = pod.ResourceVersion
	}
	if !isOlder(p.seen, p.last) && !p.unseen.IsZero() {
		r.lags = append(r.lags, time.Since(p.unseen))
		p.unseen = time.Time{}
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: pod.Namespace, Name: name}}}
}

// Reconcile creates the next Pod of a parent.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var config corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &config); err != nil || config.Labels[label] == "" {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if r.skips(req.Name) {
		return reconcile.Result{}, nil
	}
	var pods corev1.PodList
	selection := []client.ListOption{client.InNamespace(req.Namespace), client.MatchingFields{label: req.Name}}
	if *way == live {
		selection[1] = client.MatchingLabels{label: req.Name}
	}
	if err := r.reader.List(ctx, &pods, selection...); err != nil {
		return reconcile.Result{}, err
	}
	if r.settles(req.Name, len(pods.Items)) {
		return reconcile.Result{}, nil
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Labels: map[string]string{label: req.Name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/image"}}},
	}
	if *generate {
		pod.GenerateName = req.Name + "-"
	} else {
		pod.Name = fmt.Sprintf("%s-%d", req.Name, len(pods.Items))
	}
	begin := time.Now()
	if err := r.Create(ctx, pod); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: time.Nanosecond}, r.created(req.Name, pod.ResourceVersion, begin)
}

// isOlder reports whether a version, or none, is older than another one of the API server.
func isOlder(a, b string) bool {
	if a == "" || b == "" {
		return a == "" && b != ""
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// skips reports whether the cache lacks the last Pod of a parent, and the controller is one
// that waits for it.
func (r *reconciler) skips(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.of(name)
	r.counts.Reconciles++
	if r.began.IsZero() {
		r.began = time.Now()
	}
	if *way != skipping || !isOlder(p.seen, p.last) {
		return false
	}
	r.counts.Skipped++
	return true
}

// settles counts what a reconcile has read. It reports whether there is nothing to do.
func (r *reconciler) settles(name string, read int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.of(name)
	if read >= p.made && !p.wrote.IsZero() {
		r.nexts = append(r.nexts, time.Since(p.wrote))
		p.wrote = time.Time{}
	}
	if read < *children && p.made < mostTimes**children {
		if read < p.made {
			r.counts.Stale++
		}
		return false
	}
	if !p.settled {
		p.settled = true
		r.counts.Made += p.made
		r.counts.Doubles += p.made - *children
		if r.settled++; r.settled == *parents {
			r.counts.Took = time.Since(r.began)
			r.done()
		}
	}
	return true
}

// created counts a Pod.
func (r *reconciler) created(name, version string, begin time.Time) error {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return fmt.Errorf("version of a Pod: %w", err)
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.of(name)
	p.made++
	p.last, p.wrote = version, now
	r.writes = append(r.writes, now.Sub(begin))
	if isOlder(p.seen, version) {
		p.unseen = now
	}
	return nil
}

// result returns the counts.
func (r *reconciler) result() result {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := r.counts
	counts.Write, counts.Next, counts.Lag = median(r.writes), median(r.nexts), median(r.lags)
	return counts
}

func median(of []time.Duration) time.Duration {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[len(of)/2]
}

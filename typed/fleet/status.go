package fleet

import "time"

// Phase is the stage that a cluster of an informer is in.
type Phase uint8

const (
	// PhaseNew: the informer does not run, or has not looked at the cluster yet.
	PhaseNew Phase = iota
	// PhaseListing: there is nothing of the cluster, as its list has not come, or its
	// objects have expired.
	PhaseListing
	// PhaseSynced: the objects are as they were when the cluster was last heard of.
	PhaseSynced
	// PhaseStale: the objects are as they were before the cluster began to fail.
	PhaseStale
	// PhaseEnded: the source has ended without an error, and the objects stay as they
	// are.
	PhaseEnded
	// PhaseFailed: the source has ended with an error, and is not run again. The objects,
	// if there are any, are as they were before that.
	PhaseFailed
)

// String returns the name of the phase.
func (p Phase) String() string {
	if int(p) < len(phases) {
		return phases[p]
	}
	return "Unknown"
}

var phases = [...]string{
	PhaseNew: "New", PhaseListing: "Listing", PhaseSynced: "Synced", PhaseStale: "Stale", PhaseEnded: "Ended", PhaseFailed: "Failed",
}

// ClusterStatus is a report on a cluster of an informer at one moment.
type ClusterStatus struct {
	// Cluster is its name.
	Cluster string
	// Phase is the stage that it is in.
	Phase Phase
	// Objects is how many objects there are, those included that the informer has
	// rejected.
	Objects int
	// ResourceVersion is the version that was passed on to the informer, which reads
	// reflect soon.
	ResourceVersion string
	// Received is how many objects the latest list has brought so far, and Expected how
	// many it will bring, 0 if that is not known. Lists counts the complete ones.
	Received, Expected, Lists int
	// LastContact is when the cluster was last heard of: how old its objects may be.
	LastContact time.Time
	// Err is the last failure, a *ClusterError, nil if there was none since the cluster
	// last worked; or else what its source waits for. Failures counts those, and Since is
	// when the first of them was.
	Err      error
	Failures int
	Since    time.Time
	// LastErr is the last failure, even if the cluster has worked since.
	LastErr error
}

// Stale reports whether there are objects, and the cluster may have others by now, as it
// fails.
func (s *ClusterStatus) Stale() bool {
	return s.Phase == PhaseStale || s.Phase == PhaseFailed && s.Objects > 0
}

// Status reports on the clusters of the set, in the order of their names. It waits for
// nothing that is the user's.
func (s *Source[T]) Status() []ClusterStatus {
	if s.err != nil {
		return nil
	}
	entries, _ := s.clusters.now()
	g, _ := s.latest()
	all := make([]ClusterStatus, len(entries))
	for i, e := range entries {
		all[i] = statusOf(g, e.Name)
	}
	return all
}

// StatusOf reports on one cluster, false if it is not in the set.
func (s *Source[T]) StatusOf(cluster string) (ClusterStatus, bool) {
	if s.err != nil {
		return ClusterStatus{}, false
	}
	if _, ok := s.clusters.Get(cluster); !ok {
		return ClusterStatus{}, false
	}
	g, _ := s.latest()
	return statusOf(g, cluster), true
}

func statusOf[T Object](g *group[T], cluster string) ClusterStatus {
	status := ClusterStatus{Cluster: cluster}
	if g == nil {
		return status
	}
	m := g.member(cluster)
	if m == nil {
		return status
	}
	status.Objects = int(m.objects.Load())
	m.health.fill(&status)
	return status
}

// fill copies what is known into s.
func (h *health) fill(s *ClusterStatus) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.ResourceVersion, s.LastContact = h.version, h.contact
	s.Received, s.Expected, s.Lists = h.received, h.expected, h.lists
	s.Failures, s.Since, s.LastErr = h.failures, h.since, h.lastErr
	if s.Err = h.waiting; h.err != nil {
		s.Err = h.err
	}
	switch {
	case h.ended && h.err != nil:
		s.Phase = PhaseFailed
	case h.ended:
		s.Phase = PhaseEnded
	case !h.listed:
		s.Phase = PhaseListing
	case h.err != nil:
		s.Phase = PhaseStale
	default:
		s.Phase = PhaseSynced
	}
}

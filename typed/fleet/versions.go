package fleet

import (
	"strings"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// VersionOf is the resource version of one cluster.
type VersionOf struct {
	// Cluster is its name.
	Cluster string
	// ResourceVersion is what is reflected of it.
	ResourceVersion string
}

// ParseVersion returns what the resource version of an informer of a fleet, or of a
// Snapshot of it, says of each cluster, in the order of their names: reads reflect these
// versions at least, as bookmarks and lists reported them last, changes of the last minute
// aside. A cluster whose version is not known is not among them, and nothing is if the
// version is not that of a fleet. The form of such a version, which is ";" if no cluster's
// is known, is
//
//	east=4711;west=815
func ParseVersion(resourceVersion string) []VersionOf {
	var all []VersionOf
	for part := range strings.SplitSeq(resourceVersion, ";") {
		cluster, version, ok := strings.Cut(part, "=")
		switch {
		case part == "":
			continue
		case !ok:
			return nil
		}
		all = append(all, VersionOf{cluster, version})
	}
	return all
}

// allVersions returns the versions of all clusters, as far as they have been passed on. The
// caller holds versions.
func (g *group[T]) allVersions() string {
	var all strings.Builder
	for _, m := range g.all() {
		version := m.health.versionNow()
		if version == "" {
			continue
		}
		if all.Len() > 0 {
			all.WriteByte(';')
		}
		all.WriteString(m.name)
		all.WriteByte('=')
		all.WriteString(version)
	}
	if all.Len() == 0 {
		return ";" // unlike "", which would leave the informer at the version before
	}
	return all.String()
}

// At implements source.Versions: it returns the version of the key's cluster, or of the key in
// that if the cluster's source knows it.
func (s *Source[T]) At(key index.Key) string {
	g, _ := s.latest()
	if g == nil {
		return ""
	}
	cluster, own := Split(key)
	m := g.member(cluster)
	if m == nil {
		return ""
	}
	if src := m.source.Load(); src != nil {
		if at := source.VersionAt(*src, own); at != "" {
			return at
		}
	}
	return m.health.reachedNow()
}

// shows makes At ask the source for versions, if the session is the latest.
func (s *session[T]) shows(src source.Source[T]) {
	s.order.Lock()
	defer s.order.Unlock()
	if s.session == s {
		s.source.Store(&src)
	}
}

// reachedNow returns the version up to which all has been passed on, "" if it is not known.
func (h *health) reachedNow() string { return field(h, &h.reached) }

// bookmark reports the versions of all clusters.
func (g *group[T]) bookmark() {
	g.versions.Lock()
	defer g.versions.Unlock()
	g.sink.Step(nil, g.allVersions(), nil)
}

// versionNow returns the version that was passed on, "" if it is not known.
func (h *health) versionNow() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.listed {
		return ""
	}
	return h.version
}

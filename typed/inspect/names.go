package inspect

import (
	"strings"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// names shortens the names of informers that are all of one API server, which is in each.
type names struct{ end string }

// namesOf returns the names of a report's informers.
func namesOf(r *snapshot.Report) names {
	host := ""
	for n := range r.Informers {
		switch h := r.Informers[n].Host; {
		case h == "":
		case host == "":
			host = h
		case h != host:
			return names{}
		}
	}
	if host == "" {
		return names{}
	}
	return names{" at " + host}
}

// short returns a name without what all have in common.
func (n names) short(name string) string {
	if short := strings.TrimSuffix(name, n.end); short != "" {
		return short
	}
	return name
}

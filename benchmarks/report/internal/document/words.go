package document

import (
	"strings"

	"github.com/kubetyped/informer/benchmarks/report/internal/comparison"
)

// work describes a row in words: those of its target, or those of peerWork, or else its name.
func work(r *comparison.Row) string {
	if r.Target != nil && r.Target.Work != "" {
		return r.Target.Work
	}
	if words, ok := peerWork[r.Name]; ok && r.Unit == "sec/op" {
		return words
	}
	return name(r.Name, r.Side, r.Unit)
}

// peerWork describes the benchmarks against peers.
var peerWork = func() map[string]string {
	all := map[string]string{
		"PeerEvents/handlers=1":  "event to 1 handler",
		"PeerEvents/handlers=16": "event to 16 handlers",
		"PeerUpdate/batch=1":     "store update",
		"PeerUpdate/batch=100":   "store update, 100 at a time",
	}
	for of, words := range map[string]string{"index": "100 by index", "namespace": "1,000 of a namespace", "all": "all 100,000"} {
		all["PeerReads/op=list-"+of] = "list " + words
		all["PeerReads/op=range-"+of] = "range over " + strings.TrimPrefix(words, "all ")
	}
	all["PeerReads/op=get"] = "get by key"
	return all
}()

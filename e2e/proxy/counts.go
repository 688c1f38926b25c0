package proxy

import "k8s.io/apimachinery/pkg/runtime/schema"

// counts counts what has passed.
type counts map[counted]int

type counted struct {
	what     string // requests, answers or cuts
	verb     string
	resource schema.GroupResource
	code     int // of an answer
}

const (
	requests = "requests"
	answers  = "answers"
	cuts     = "cuts"
)

func (p *Proxy) count(what string, r request, code int) {
	p.change(func() { p.counts[counted{what, r.verb, r.resource, code}]++ })
}

func (p *Proxy) sum(what, verb, resource string, code int) (n int) {
	p.look(func() {
		for c, times := range p.counts {
			r := request{verb: c.verb, resource: c.resource}
			if c.what == what && r.about(verb, resource) && (code == 0 || code == c.code) {
				n += times
			}
		}
	})
	return n
}

// Requests returns the number of requests so far with the verb for the resource,
// whatever becomes of them. Both are named as in Fault, and empty stands for any.
func (p *Proxy) Requests(verb, resource string) int {
	return p.sum(requests, verb, resource, 0)
}

// Responses returns the number of answers so far with the status code, 0 for any,
// be they of the API server or of the proxy. An answer counts when its code is
// known, even if its body is cut then. Verb and resource are named as in Fault,
// and empty stands for any.
func (p *Proxy) Responses(verb, resource string, code int) int {
	return p.sum(answers, verb, resource, code)
}

// Cuts returns the number of answers so far that CutWatches or a Fault has ended
// before their time. The resource is named as in Fault, and empty stands for any.
func (p *Proxy) Cuts(resource string) int {
	return p.sum(cuts, "", resource, 0)
}

package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fate is what happens to one request.
type fate struct {
	refusal                 *refusal
	lose                    bool // the answer
	crashBefore, crashAfter bool
	late                    time.Duration // how much later it arrives
	back                    time.Duration // how long after a crash the process is down
}

// arming is a fault that waits for requests.
type arming struct {
	matches func(target) bool
	times   int // left
	apply   func(*fate)
}

// arm makes a fault happen to some of the next requests.
func (p *process) arm(a *arming) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = append(p.armed, a)
}

// disarm ends all faults that wait for requests.
func (p *process) disarm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = nil
}

// meet returns the fate of a request: the first fault that waits for one like it.
func (p *process) meet(l *life, one *request) fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	var f fate
	if p.life != l {
		return f
	}
	for i, a := range p.armed {
		if !a.matches(one.what) {
			continue
		}
		a.apply(&f)
		if a.times--; a.times == 0 {
			p.armed = slices.Delete(p.armed, i, i+1)
		}
		break
	}
	return f
}

// refusal is the answer of a server that does not do what it is asked.
type refusal struct{ status metav1.Status }

func newRefusal(code int, reason metav1.StatusReason, message string, retryAfter int) *refusal {
	r := &refusal{metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}}
	if retryAfter > 0 {
		r.status.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(retryAfter)}
	}
	return r
}

// response returns the answer to a request.
func (r *refusal) response(to *http.Request) *http.Response {
	text, err := json.Marshal(r.status)
	if err != nil {
		panic(fmt.Errorf("simulation: spell a status: %w", err)) // there is nothing in it that cannot be
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if d := r.status.Details; d != nil {
		header.Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", r.status.Code, http.StatusText(int(r.status.Code))),
		StatusCode: int(r.status.Code),
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)), Request: to,
	}
}

// refusals are the ways to refuse any request.
var refusals = []*refusal{
	newRefusal(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "too many requests, please try again later", 1),
	newRefusal(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "too many requests, please try again later", 20),
	newRefusal(http.StatusInternalServerError, metav1.StatusReasonInternalError, "Internal error occurred: the simulation says so", 0),
	newRefusal(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "the server is currently unable to handle the request", 0),
	newRefusal(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "the server was unable to return a response in the time allotted", 0),
}

// conflict is the answer to a write for which the object has changed meanwhile.
var conflict = newRefusal(http.StatusConflict, metav1.StatusReasonConflict,
	"the object has been modified; please apply your changes to the latest version and try again", 0)

package shard

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
)

// asked is a request as the server gets it.
type asked struct {
	verb, url, accept, contentType, agent, body string
}

// recorder notes the requests of a client.
type recorder struct {
	next  http.RoundTripper
	asked []asked
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	a := asked{
		verb: request.Method, url: request.URL.RequestURI(), accept: request.Header.Get("Accept"),
		contentType: request.Header.Get("Content-Type"), agent: request.Header.Get("User-Agent"),
	}
	if request.Body != nil {
		from, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(from)
		if err != nil {
			return nil, err
		}
		a.body = string(body)
	}
	r.asked = append(r.asked, a)
	return r.next.RoundTrip(request)
}

// answer is what a client returns: a Lease, a list, or why there is none.
type answer struct {
	value  any
	reason metav1.StatusReason
	text   string
}

func answered(value any, err error) answer {
	if err != nil {
		return answer{reason: apierrors.ReasonForError(err), text: err.Error()}
	}
	return answer{value: value}
}

// generated has client-go's generated client as a leaseAPI.
type generated struct{ clientv1.LeaseInterface }

func (g generated) List(ctx context.Context, labels string) (*coordinationv1.LeaseList, error) {
	return g.LeaseInterface.List(ctx, metav1.ListOptions{LabelSelector: labels})
}

func (g generated) Get(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	return g.LeaseInterface.Get(ctx, name, metav1.GetOptions{})
}

func (g generated) Create(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return g.LeaseInterface.Create(ctx, lease, metav1.CreateOptions{})
}

func (g generated) Update(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return g.LeaseInterface.Update(ctx, lease, metav1.UpdateOptions{})
}

func (g generated) Delete(ctx context.Context, name string, conditions metav1.Preconditions) error {
	return g.LeaseInterface.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &conditions})
}

// TestRequestsAreThoseOfTheGeneratedClient: whatever a member asks, the server gets the
// bytes that client-go's generated client sends, and the member what that one returns.
func TestRequestsAreThoseOfTheGeneratedClient(t *testing.T) {
	for name, setUp := range map[string]func(*rest.Config){
		"as it is":            func(*rest.Config) {},
		"JSON is asked for":   func(c *rest.Config) { c.ContentType = "application/json" },
		"JSON is accepted":    func(c *rest.Config) { c.AcceptContentTypes = "application/json" },
		"with an agent":       func(c *rest.Config) { c.UserAgent = "somebody" },
		"below another path":  func(c *rest.Config) { c.Host += "/below/this" },
		"for another version": func(c *rest.Config) { c.APIPath, c.GroupVersion = "/api", &metav1.SchemeGroupVersion },
	} {
		t.Run(name, func(t *testing.T) {
			var asked [2][]asked
			var answers [2][]answer
			for side, connect := range []func(*rest.Config) (leaseAPI, error){
				func(c *rest.Config) (leaseAPI, error) { return newRESTLeases(c, "ns") },
				func(c *rest.Config) (leaseAPI, error) {
					client, err := clientv1.NewForConfig(c)
					if err != nil {
						return nil, err
					}
					return generated{client.Leases("ns")}, nil
				},
			} {
				rig.InBubble(t, func(t *testing.T) { asked[side], answers[side] = conversation(t, setUp, connect) })
			}
			assert.Equal(t, asked[1], asked[0])
			assert.Equal(t, answers[1], answers[0])
		})
	}
}

// conversation makes requests that succeed and others that fail, to its own server, and returns the
// requests and the client's results.
func conversation(t *testing.T, setUp func(*rest.Config), connect func(*rest.Config) (leaseAPI, error)) ([]asked, []answer) {
	srv := apitest.Start(t, apitest.WithSeed(1))
	config := srv.Config()
	setUp(config)
	recorded := &recorder{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		recorded.next = next
		return recorded
	})
	api, err := connect(config)
	require.NoError(t, err)
	ctx := t.Context()
	lease := record{identity: "a", holds: everything}.write(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{groupLabel: "g"}},
	})

	made, err := api.Create(ctx, lease)
	answers := []answer{answered(made, err), answered(api.Create(ctx, lease)), answered(api.List(ctx, groupLabel+"=g"))}
	answers = append(answers, answered(api.Get(ctx, "a")), answered(api.Get(ctx, "missing")))
	answers = append(answers, answered(api.List(ctx, groupLabel+"=other")), answered(api.List(ctx, "no, selector=")))
	old := made.DeepCopy()
	old.ResourceVersion = "1"
	answers = append(answers, answered(api.Update(ctx, made)), answered(api.Update(ctx, old)))
	for _, when := range []metav1.Preconditions{{UID: ptr.To[types.UID]("other")}, {ResourceVersion: &old.ResourceVersion}, {}, {}} {
		answers = append(answers, answered(nil, api.Delete(ctx, "a", when)))
	}
	return recorded.asked, answers
}

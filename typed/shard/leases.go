package shard

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
)

// leaseAPI is what members ask of the API server. All methods return its errors.
type leaseAPI interface {
	// List returns the Leases that a label selector selects, as they are now.
	List(ctx context.Context, labels string) (*coordinationv1.LeaseList, error)
	// Get returns the Lease of a name.
	Get(ctx context.Context, name string) (*coordinationv1.Lease, error)
	// Create returns the Lease as it was made.
	Create(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error)
	// Update returns the Lease as it was written. It fails if the version of lease is not
	// the current one.
	Update(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error)
	// Delete deletes a Lease if the conditions hold.
	Delete(ctx context.Context, name string, conditions metav1.Preconditions) error
}

// restLeases are the Leases of a namespace. It makes the requests of client-go's generated
// client, protobuf included, on the same REST client. The generated one links the types of
// all APIs, apply configurations and what describes them, half as many packages again.
type restLeases struct {
	client    rest.Interface
	namespace string
}

// leaseScheme contains Leases, and the other types in requests for them.
var leaseScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	utilruntime.Must(coordinationv1.AddToScheme(s))
	return s
}()

var (
	leaseCodecs     = serializer.NewCodecFactory(leaseScheme)
	leaseParameters = runtime.NewParameterCodec(leaseScheme)
)

// newRESTLeases returns the Leases of a namespace, with their own rate limit, or an error if
// the configuration cannot be used.
func newRESTLeases(config *rest.Config, namespace string) (*restLeases, error) {
	own := rest.CopyConfig(config)
	own.RateLimiter = nil // that others use, whose requests these must not wait for
	if own.QPS > 0 {
		own.QPS, own.Burst = max(own.QPS, rest.DefaultQPS), max(own.Burst, rest.DefaultBurst)
	}
	own.APIPath = "/apis"
	own.GroupVersion = &coordinationv1.SchemeGroupVersion
	own.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(leaseScheme, leaseCodecs).WithoutConversion()
	if own.UserAgent == "" {
		own.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	client, err := rest.RESTClientFor(own)
	if err != nil {
		return nil, err
	}
	return &restLeases{client, namespace}, nil
}

// to directs a request to the Leases of the namespace.
func (l *restLeases) to(begun *rest.Request) *rest.Request {
	return begun.UseProtobufAsDefault().Namespace(l.namespace).Resource("leases")
}

// List implements leaseAPI.
func (l *restLeases) List(ctx context.Context, labels string) (*coordinationv1.LeaseList, error) {
	list := &coordinationv1.LeaseList{}
	request := l.to(l.client.Get()).VersionedParams(&metav1.ListOptions{LabelSelector: labels}, leaseParameters)
	return list, request.Do(ctx).Into(list)
}

// Get implements leaseAPI.
func (l *restLeases) Get(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	return lease, l.to(l.client.Get()).Name(name).Do(ctx).Into(lease)
}

// Create implements leaseAPI.
func (l *restLeases) Create(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	created := &coordinationv1.Lease{}
	return created, l.to(l.client.Post()).Body(lease).Do(ctx).Into(created)
}

// Update implements leaseAPI.
func (l *restLeases) Update(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	updated := &coordinationv1.Lease{}
	return updated, l.to(l.client.Put()).Name(lease.Name).Body(lease).Do(ctx).Into(updated)
}

// Delete implements leaseAPI.
func (l *restLeases) Delete(ctx context.Context, name string, conditions metav1.Preconditions) error {
	return l.to(l.client.Delete()).Name(name).Body(&metav1.DeleteOptions{Preconditions: &conditions}).Do(ctx).Error()
}

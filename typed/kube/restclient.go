package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/munnerz/goautoneg"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/plan"
	"github.com/kubetyped/informer/internal/decode/wire"
)

// restClient makes requests for objects of type T with client-go's REST client,
// and hands their responses out unread.
type restClient[T index.Object] struct {
	requester
	codecs map[string]wire.Codec[T]
}

// requester is the part of a restClient that does not depend on the type of objects.
type requester struct {
	requests rest.Interface
	accept   []string  // media types, in order of preference
	partial  bool      // asks for metadata only
	api      *wire.API // what is sent in protobuf; nil: not known, or the type of objects

	compressed bool // watches may be compressed
}

// metaScheme contains the types that are no objects: options, statuses, resources.
var metaScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	return s
}()

var metaCodecs = serializer.NewCodecFactory(metaScheme)

// newRESTClient returns a client of a configuration; api may be nil.
func newRESTClient[T index.Object](config *rest.Config, api *wire.API) (*restClient[T], error) {
	types, err := mediaTypes[T](api)
	if err != nil {
		return nil, err
	}
	own := rest.CopyConfig(config)
	own.APIPath = "/"
	own.GroupVersion = &schema.GroupVersion{}
	own.NegotiatedSerializer = metaCodecs.WithoutConversion()
	own.UserAgent = cmp.Or(own.UserAgent, rest.DefaultKubernetesUserAgent())
	shared, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, err
	}
	httpClient := *shared
	httpClient.Transport = headerKeeper{httpClient.Transport}
	client, err := rest.RESTClientForConfigAndClient(own, &httpClient)
	if err != nil {
		return nil, err
	}
	return asking[T](client, acceptable(config, types), api)
}

// asking returns a client that asks for media types, the best first.
func asking[T index.Object](client rest.Interface, accept []string, api *wire.API) (*restClient[T], error) {
	partial := isMetadata(kindType(reflect.TypeFor[T]()))
	codecs, err := newCodecs[T](accept, api, nil, nil)
	return &restClient[T]{requester{requests: client, accept: accept, partial: partial, api: api}, codecs}, err
}

// likeRESTClient returns a client that makes its requests as another one does, from
// connections and credentials to rate limits and the handler of warnings.
func likeRESTClient[T index.Object](other *rest.RESTClient) (*restClient[T], error) {
	types, err := wire.MediaTypes[T](nil)
	if err != nil {
		return nil, err
	}
	httpClient := http.Client{}
	if other.Client != nil {
		httpClient = *other.Client
	}
	httpClient.Transport = headerKeeper{httpClient.Transport}
	// Only a copy has the other client's handler of warnings, which is not exported.
	client := reflect.New(reflect.TypeFor[rest.RESTClient]())
	client.Elem().Set(reflect.ValueOf(other).Elem())
	own := client.Interface().(*rest.RESTClient)
	own.Client = &httpClient
	return asking[T](own, acceptable(&rest.Config{}, types), nil)
}

// newCodecs returns the codecs for media types; the rest is for wire.NewCodec.
func newCodecs[T index.Object](mediaTypes []string, api *wire.API, held wire.Held[T], mask *plan.Mask) (map[string]wire.Codec[T], error) {
	codecs := map[string]wire.Codec[T]{}
	for _, t := range mediaTypes {
		codec, err := wire.NewCodec(t, api, held, mask)
		if err == nil {
			codec, err = packingCodec(codec, t, api, held)
		}
		if err != nil {
			return nil, err
		}
		codecs[t] = codec
	}
	return codecs, nil
}

// decoding returns a client that decodes the fields of mask, all if that is nil, and
// deduplicates objects, with each other and with those that held returns, unless held is nil.
func (c *restClient[T]) decoding(mask *plan.Mask, held func(index.Key) (T, bool)) (*restClient[T], error) {
	if held == nil && mask == nil {
		return c, nil
	}
	decoding := *c
	var err error
	decoding.codecs, err = newCodecs(c.accept, c.api, heldByName(held), mask)
	return &decoding, err
}

// heldByName returns held as codecs call it, nil if it is nil.
func heldByName[T any](held func(index.Key) (T, bool)) wire.Held[T] {
	if held == nil {
		return nil
	}
	return func(namespace, name string) (T, bool) { return held(index.Key{Namespace: namespace, Name: name}) }
}

// acceptable returns the media types to ask for, of those that can be decoded:
// the ones that the configuration names, by default all; and JSON, which every server
// has.
func acceptable(config *rest.Config, types []string) []string {
	var wanted []string
	switch {
	case config.AcceptContentTypes != "":
		for _, clause := range goautoneg.ParseAccept(config.AcceptContentTypes) {
			wanted = append(wanted, clause.Type+"/"+clause.SubType)
		}
	case config.ContentType != "":
		wanted = []string{config.ContentType}
	default:
		return types
	}
	wanted = slices.DeleteFunc(wanted, func(t string) bool { return !slices.Contains(types, t) })
	if !slices.Contains(wanted, runtime.ContentTypeJSON) {
		wanted = append(wanted, runtime.ContentTypeJSON)
	}
	return wanted
}

// acceptHeader returns the Accept header for a list or a watch.
func (r *requester) acceptHeader(list bool) string {
	if !r.partial {
		return strings.Join(r.accept, ",")
	}
	as := ";as=PartialObjectMetadata"
	if list {
		as += "List"
	}
	var clauses []string
	for _, t := range r.accept {
		clauses = append(clauses, t+as+";g=meta.k8s.io;v=v1")
	}
	// A server that does not know of such objects sends the whole ones.
	clauses = append(clauses, runtime.ContentTypeJSON)
	return strings.Join(clauses, ",")
}

// parameters encodes options into a query.
var parameters = runtime.NewParameterCodec(metaScheme)

// get requests a list, or a watch if opts say so. The caller closes the response.
func (c *restClient[T]) get(ctx context.Context, path []string, opts metav1.ListOptions) (io.ReadCloser, wire.Codec[T], error) {
	body, contentType, err := c.request(ctx, path, opts)
	if err != nil {
		return nil, nil, err
	}
	codec, err := c.codec(contentType)
	if err != nil {
		return nil, nil, errors.Join(err, body.Close())
	}
	return body, codec, nil
}

// request requests a list, or a watch if opts say so, and returns the response, which the caller
// closes, and its content type.
func (r *requester) request(ctx context.Context, path []string, opts metav1.ListOptions) (body io.ReadCloser, contentType string, err error) {
	request := r.requests.Get().AbsPath(path...).
		SetHeader("Accept", r.acceptHeader(!opts.Watch)).
		SpecificallyVersionedParams(&opts, parameters, schema.GroupVersion{Version: "v1"})
	if opts.Watch {
		// As generated clients, whose watches are not limited either.
		request = request.Throttle(flowcontrol.NewFakeAlwaysRateLimiter())
		if !r.compressed {
			request = request.SetHeader("Accept-Encoding", "identity") // else Go's transport asks for gzip
		}
	}
	var header http.Header
	if body, err = request.Stream(context.WithValue(ctx, keptHeader{}, &header)); err != nil {
		return nil, "", err
	}
	if !opts.Watch {
		body = &sizedBody{ReadCloser: body, ctx: ctx, host: request.URL().Host}
	}
	if coding := header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		err = fmt.Errorf("the answer is encoded as %q, which was not requested", coding)
		return nil, "", errors.Join(err, body.Close())
	}
	if contentType = header.Get("Content-Type"); contentType == "" {
		body, contentType = recognize(body, opts.Watch)
	}
	return body, contentType, nil
}

// codec returns what decodes a response of a content type.
func (c *restClient[T]) codec(contentType string) (wire.Codec[T], error) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if codec, ok := c.codecs[mediaType]; ok && err == nil {
		return codec, nil
	}
	return nil, fmt.Errorf("the answer has the content type %q, where one of %q was asked for; it is not from an API server, or from one that cannot spell the objects so",
		contentType, c.accept)
}

// headerKeeper hands out the header of a response, which client-go's REST client
// keeps to itself when a response is streamed, and decompresses what was not to be
// compressed.
type headerKeeper struct{ base http.RoundTripper }

// keptHeader is the key under which the context of a request has a *http.Header.
type keptHeader struct{}

// RoundTrip implements http.RoundTripper.
func (k headerKeeper) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := cmp.Or(k.base, http.DefaultTransport).RoundTrip(request)
	if err != nil {
		return response, err
	}
	response = decompressed(response)
	if kept, ok := request.Context().Value(keptHeader{}).(*http.Header); ok {
		*kept = response.Header
	}
	return response, nil
}

// WrappedRoundTripper implements apimachinery's net.RoundTripperWrapper.
func (k headerKeeper) WrappedRoundTripper() http.RoundTripper { return k.base }

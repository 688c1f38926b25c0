package apitest

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/apitest/internal/wire"
)

// serve is the handler of every request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		s.fail(w, r, apierrors.NewServiceUnavailable("the server is closing"))
		return
	}
	defer s.handlers.Done()
	klog.FromContext(r.Context()).V(4).Info("Request", "method", r.Method, "uri", r.URL.RequestURI(), "accept", r.Header.Get("Accept"))

	if s.discover(w, r) {
		return
	}
	req, ok := s.catalog.parse(r)
	if !ok {
		s.fail(w, r, apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "404 page not found", 0, true))
		return
	}
	if !slices.Contains(req.collection.verbs(), req.verb) ||
		req.collection.namespaced && req.namespace == "" && (req.verb == "create" || req.verb == "deletecollection") {
		s.fail(w, r, apierrors.NewMethodNotSupported(req.collection.groupResource(), r.Method))
		return
	}
	s.counts.add(req.verb, req.target())
	if err := s.carryOut(w, req); err != nil {
		s.fail(w, r, err)
	}
}

func (s *Server) dispatch(w http.ResponseWriter, req *request) (err error) {
	need := wire.Need{Protobuf: req.collection.protobuf, Stream: req.verb == "watch"}
	handle := byVerb[req.verb]
	if part := req.collection.subresource(req.subresource); part != nil {
		handle = part.verbs[req.verb]
		need.Protobuf = need.Protobuf || part.kind != req.collection.kind
	}
	if req.format, err = wire.Negotiate(req.Header.Get("Accept"), need); err != nil {
		return err
	}
	return handle(s, w, req)
}

// byVerb are the handlers of the verbs that a collection may have.
var byVerb = map[string]handler{
	"get": (*Server).serveGet, "list": (*Server).serveList, "watch": (*Server).serveWatch,
	"create": (*Server).serveCreate, "update": (*Server).serveUpdate, "patch": (*Server).servePatch,
	"delete": (*Server).serveDelete, "deletecollection": (*Server).serveDeleteCollection,
}

// answerStored answers with an object as it is stored.
func (s *Server) answerStored(w http.ResponseWriter, r *request, code int, stored runtime.Object) error {
	obj, err := r.collection.fromStored(stored)
	if err != nil {
		return err
	}
	return s.answer(w, r, code, obj)
}

// answer writes one object, or the part of it that the format asks for.
func (s *Server) answer(w http.ResponseWriter, r *request, code int, obj runtime.Object) (err error) {
	if _, isStatus := obj.(*metav1.Status); !isStatus {
		if obj, err = r.format.Shape(obj); err != nil {
			return err
		}
	}
	s.write(w, r.Request, r.format, code, obj)
	return nil
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, f wire.Format, code int, obj runtime.Object) {
	w.Header().Set("Content-Type", f.MediaType())
	w.WriteHeader(code)
	if err := f.Encode(obj, w); err != nil {
		// Mostly a client that has left; the status line is out already.
		klog.FromContext(r.Context()).V(2).Info("Cannot write a response", "uri", r.URL.RequestURI(), "err", err)
	}
}

// whole is what can carry what is not about objects, such as errors.
var whole = wire.Need{Protobuf: true, Whole: true}

// fail answers with an error as API servers do.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, errAborted) {
		panic(http.ErrAbortHandler)
	}
	status := statusOf(err)
	f, negotiation := wire.Negotiate(r.Header.Get("Accept"), whole)
	if negotiation != nil {
		f = wire.JSON()
	}
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	s.write(w, r, f, int(status.Code), status)
}

// statusOf returns err as an API status, a copy that the caller owns.
func statusOf(err error) *metav1.Status {
	var api apierrors.APIStatus
	if !errors.As(err, &api) {
		api = apierrors.NewInternalError(err)
	}
	source := api.Status()
	status := source.DeepCopy()
	status.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Status"})
	if status.Status == "" {
		status.Status = metav1.StatusFailure
	}
	if status.Code < 200 || status.Code > 999 {
		// Not the code of an answer; net/http refuses to send it.
		status.Code = http.StatusInternalServerError
	}
	return status
}

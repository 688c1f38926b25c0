package apitest

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	listvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubetyped/informer/apitest/internal/store"
)

// listQuery is what a list or a watch asks for.
type listQuery struct {
	*selection
	options   internalversion.ListOptions
	requested uint64 // options.ResourceVersion, 0 if not set
}

// listQuery reads and checks the query. It returns 400 and 422 statuses as API
// servers do.
func (r *request) listQuery(watchList bool) (*listQuery, error) {
	q := &listQuery{}
	if err := r.options(&q.options); err != nil {
		return nil, err
	}
	q.options.Watch = r.verb == "watch"
	internalversion.SetListOptionsDefaults(&q.options, watchList)
	if errs := listvalidation.ValidateListOptions(&q.options, watchList); len(errs) > 0 {
		return nil, invalidOptions("ListOptions", errs)
	}
	var err error
	if q.selection, err = r.collection.selects(r.namespace, q.options.LabelSelector, q.options.FieldSelector); err != nil {
		return nil, err
	}
	if q.requested, err = r.revision(q.options.ResourceVersion); err != nil {
		return nil, err
	}
	return q, nil
}

// revision reads a resource version, 0 if it is empty. One that cannot be read is
// a 400 status, but 500 for a watch, as API servers have it.
func (r *request) revision(rv string) (uint64, error) {
	if rv == "" {
		return 0, nil
	}
	revision, err := strconv.ParseUint(rv, 10, 64)
	if err == nil {
		return revision, nil
	}
	invalid := field.Invalid(field.NewPath("resourceVersion"), rv, err.Error())
	if r.verb == "watch" {
		return 0, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: invalid.Error(),
		}}
	}
	return 0, apierrors.NewBadRequest("invalid resource version: " + invalid.Error())
}

// page is the answer to a list.
type page struct {
	objects []runtime.Object
	meta    metav1.ListMeta
}

func (s *Server) serveList(w http.ResponseWriter, req *request) error {
	q, err := req.listQuery(s.settings.watchList)
	if err != nil {
		return err
	}
	at, err := s.listAt(req, q)
	if err != nil {
		return err
	}
	p, err := req.collection.page(q, at)
	if err != nil {
		return err
	}
	return s.answerList(w, req, p)
}

func (s *Server) answerList(w http.ResponseWriter, req *request, p *page) error {
	list, err := req.format.List(req.collection.newList(), req.collection.listKind, p.objects, p.meta)
	if err != nil {
		return err
	}
	s.write(w, req.Request, req.format, http.StatusOK, list)
	return nil
}

// page reads the objects of a list, at a revision if the list names none itself; 0
// is the present.
func (c *collection) page(q *listQuery, at uint64) (*page, error) {
	prefix := c.prefix(q.namespace)
	exact, start, err := q.position(prefix)
	if err != nil {
		return nil, err
	}
	found, revision, err := c.table.List(prefix, start, max(exact, at))
	if errors.Is(err, store.ErrCompacted) && exact == 0 {
		found, revision, err = c.table.List(prefix, start, 0)
	}
	switch {
	case errors.Is(err, store.ErrFuture):
		return nil, tooLarge(exact, revision, 0)
	case errors.Is(err, store.ErrCompacted):
		return nil, expired(q, start, prefix)
	case err != nil:
		return nil, err
	case exact == 0 && q.requested > revision:
		return nil, tooLarge(q.requested, revision, 0)
	}
	return q.cut(found, revision, prefix)
}

// position returns the revision to read at, 0 for the present, and the first key.
func (q *listQuery) position(prefix string) (exact uint64, start string, err error) {
	o := q.options
	switch {
	case o.Continue != "":
		if o.ResourceVersion != "" && o.ResourceVersion != "0" {
			return 0, "", apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		token, err := decodeContinuation(o.Continue)
		if err != nil {
			return 0, "", err
		}
		return uint64(max(token.Revision, 0)), prefix + token.Start, nil
	case o.ResourceVersionMatch == metav1.ResourceVersionMatchExact,
		o.ResourceVersionMatch == "" && o.Limit > 0:
		return q.requested, "", nil
	default:
		return 0, "", nil
	}
}

// cut selects from the found objects, up to the limit. A list at version "0" has no limit: it
// comes from the server's cache, whole.
func (q *listQuery) cut(found []*store.Version, revision uint64, prefix string) (*page, error) {
	p := &page{meta: metav1.ListMeta{ResourceVersion: strconv.FormatUint(revision, 10)}}
	limit := int(q.options.Limit)
	if limit <= 0 || q.options.ResourceVersion == "0" && q.options.Continue == "" {
		limit = len(found)
	}
	p.objects = make([]runtime.Object, 0, min(limit, len(found)))
	for i, v := range found {
		v, err := q.collection.view(v)
		if err != nil {
			return nil, err
		}
		if !q.matches(v) {
			continue
		}
		p.objects = append(p.objects, v.Object)
		if left := len(found) - i - 1; len(p.objects) == limit && left > 0 {
			// The smallest key after this one.
			next := continuation{Revision: int64(revision), Start: q.collection.keyOf(v.Object)[len(prefix):] + "\x00"}
			p.meta.Continue = next.encode()
			if q.unfiltered() {
				p.meta.RemainingItemCount = new(int64(left))
			}
			break
		}
	}
	return p, nil
}

// tooLarge is the answer to a version that is not there yet. API servers wait some
// seconds for it and then ask clients to retry, which client-go does ten times. To
// one that has not been written, this answer comes at once and is final: retry is 0.
func tooLarge(wanted, present uint64, retry int) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", wanted, present), retry)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}
	return err
}

// expired is the answer to a version that has been compacted. For a continued list it carries a
// token to continue with, at the present state.
func expired(q *listQuery, start, prefix string) error {
	if q.options.Continue == "" {
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	status := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to go on " +
		"with an inconsistent list.")
	status.ErrStatus.ListMeta.Continue = continuation{Revision: -1, Start: start[len(prefix):]}.encode()
	return status
}

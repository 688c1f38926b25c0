package apitest

import (
	"errors"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/apitest/internal/store"
)

func (s *Server) serveWatch(w http.ResponseWriter, req *request) error {
	q, err := req.listQuery(s.settings.watchList)
	if err != nil {
		return err
	}
	st := &stream{
		listQuery: q, request: req, format: req.format,
		out: w, flush: http.NewResponseController(w),
		bookmarks: s.settings.bookmark,
		mailbox:   req.commands,
		awake:     make(chan struct{}, 1),
	}
	// As API servers do, what goes wrong from here on is an ERROR event.
	cause := st.start()
	if cause == nil {
		req.line.watching(st)
		s.streams.add(st)
		defer s.streams.remove(st)
	}

	w.Header().Set("Content-Type", req.format.StreamMediaType())
	w.WriteHeader(http.StatusOK)
	st.dirty = true
	if err := st.flushed(); err != nil {
		return errAborted
	}
	if cause != nil {
		err = st.fail(cause)
	} else {
		err = st.serve(req)
	}
	switch {
	case errors.Is(err, errEnded):
		return nil
	case !errors.Is(err, errAborted) && req.Context().Err() == nil:
		klog.FromContext(req.Context()).V(2).Info("Watch broke off", "uri", req.URL.RequestURI(), "err", err)
	}
	return errAborted
}

func (st *stream) serve(req *request) error {
	var timeout <-chan time.Time
	if seconds := st.options.TimeoutSeconds; seconds != nil && *seconds != 0 {
		timer := time.NewTimer(time.Duration(*seconds) * time.Second)
		defer timer.Stop()
		timeout = timer.C
	}
	return st.run(req.Context().Done(), timeout)
}

// start fixes the watch's place in the history.
func (st *stream) start() error {
	table := st.collection.table
	if fromState(st.options, st.requested) {
		initial, revision, err := st.state()
		if err != nil {
			return err
		}
		st.sent = revision
		if st.wantsInitial() {
			st.initial = initial
			st.endMark = st.options.AllowWatchBookmarks && st.options.SendInitialEvents != nil
		}
		return nil
	}
	cursor, err := table.Watch(st.requested)
	if errors.Is(err, store.ErrCompacted) {
		return tooOld(st.requested, table.Oldest())
	}
	st.cursor, st.sent = cursor, st.requested
	return err
}

// state returns what the watch begins with, and its revision: that of the cache
// unless the watch asks for the present.
func (st *stream) state() ([]*store.Version, uint64, error) {
	table, prefix := st.collection.table, st.collection.prefix(st.namespace)
	initial, present, cursor := table.ListAndWatch(prefix)
	st.cursor = cursor
	if st.requested > present {
		return nil, 0, tooLarge(st.requested, present, 0)
	}
	at := uint64(0)
	var err error
	switch streamed := st.options.SendInitialEvents != nil; {
	case st.options.ResourceVersion != "":
		at, err = st.request.await(st.requested)
	case streamed:
		at, err = st.request.await(present)
	}
	if err != nil || at == 0 {
		return initial, present, err
	}
	past, cursor, err := table.ListAndWatchAt(prefix, at)
	if errors.Is(err, store.ErrCompacted) {
		return initial, present, nil
	}
	st.cursor = cursor
	return past, at, err
}

func (st *stream) wantsInitial() bool {
	return st.options.SendInitialEvents == nil || *st.options.SendInitialEvents
}

// fromState reports whether a watch begins with the present state rather than in
// the history.
func fromState(o internalversion.ListOptions, revision uint64) bool {
	return revision == 0 || o.SendInitialEvents != nil && *o.SendInitialEvents
}

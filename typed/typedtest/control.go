package typedtest

import (
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// CutWatches ends the open watches of a resource, named as in Fault (empty: all),
// as a server does whose timeout has come: after a whole event, without an
// error. It returns how many. They count as closed at once; what has been
// written before may still be delivered, or not.
func (s *Server) CutWatches(resource string) int {
	return s.streams.cut(resource, command{do: func(st *stream) error {
		return errors.Join(errEnded, st.flushed())
	}})
}

// TearWatches drops the connections of the open watches of a resource in the
// middle of an event: clients read the first half of its bytes. It returns how
// many, and counts them as CutWatches does.
func (s *Server) TearWatches(resource string) int {
	return s.streams.cut(resource, command{do: func(st *stream) error {
		mark, err := st.mark(nil)
		if err != nil {
			return err
		}
		data, err := st.format.EncodeEvent(watch.Bookmark, mark)
		if err != nil {
			return err
		}
		if err := st.write(data[:len(data)/2]); err != nil {
			return err
		}
		return errors.Join(errAborted, st.flushed())
	}})
}

// SendError sends an ERROR event with the status of err to the open watches of a
// resource and ends them. It returns how many, and counts them as CutWatches
// does.
func (s *Server) SendError(resource string, err error) int {
	return s.streams.cut(resource, command{do: func(st *stream) error { return st.fail(err) }})
}

// SendEvent sends an event that the server does not make itself to the open
// watches of a resource: an object without a name, of a wrong kind, an unknown
// event type. It comes after what was written before the call. obj is sent as it
// is and must carry its kind; watches that cannot spell it, as protobuf cannot
// unstructured objects, break off. It returns how many were told; without an
// object, nobody.
func (s *Server) SendEvent(resource string, t watch.EventType, obj runtime.Object) int {
	if obj == nil {
		return 0
	}
	own := obj.DeepCopyObject()
	return s.streams.tell(resource, command{after: s.store.Revision(), do: func(st *stream) error {
		data, err := st.format.EncodeRawEvent(t, own)
		if err != nil {
			return err
		}
		return st.write(data)
	}})
}

// SendBytes writes bytes into the responses of the open watches of a resource,
// after what was written before the call. It returns how many were told.
func (s *Server) SendBytes(resource string, data []byte) int {
	own := append([]byte(nil), data...)
	return s.streams.tell(resource, command{after: s.store.Revision(), do: func(st *stream) error {
		return st.write(own)
	}})
}

// SendBookmarks sends a bookmark to the open watches of a resource that allow
// them, after what was written before the call. It returns how many were told.
func (s *Server) SendBookmarks(resource string) int {
	return s.streams.tell(resource, command{after: s.store.Revision(), do: func(st *stream) error {
		if !st.options.AllowWatchBookmarks {
			return nil
		}
		return st.bookmark(nil)
	}})
}

// HoldWatches stops the delivery of events and bookmarks, and of what the Send
// methods but SendError send, to the watches of a resource, later ones included, until resume is called, which may be called
// more than once. Writers are not held up. Watches that are held can be cut.
func (s *Server) HoldWatches(resource string) (resume func()) {
	h := s.streams.hold(resource)
	return sync.OnceFunc(func() { s.streams.release(h) })
}

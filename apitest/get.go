package apitest

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func (s *Server) serveGet(w http.ResponseWriter, req *request) error {
	found, err := req.find()
	if err != nil {
		return err
	}
	return s.answerStored(w, req, http.StatusOK, found)
}

// find returns the object of a get, as it is stored.
func (r *request) find() (runtime.Object, error) {
	options := &metav1.GetOptions{}
	if err := r.options(options); err != nil {
		return nil, err
	}
	wanted, err := r.revision(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	c := r.collection
	key := c.key(r.namespace, r.name)
	found, revision := c.table.Get(key)
	if options.ResourceVersion != "" {
		at, err := r.notOlderThan(wanted, revision)
		if err != nil {
			return nil, err
		}
		if at > 0 {
			if found, err = c.table.At(key, at); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case wanted > revision:
		return nil, tooLarge(wanted, revision, 0)
	case found == nil:
		return nil, apierrors.NewNotFound(c.groupResource(), r.name)
	}
	return found.Object, nil
}

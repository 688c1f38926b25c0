package apitest

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (s *Server) serveGet(w http.ResponseWriter, req *request) error {
	options := &metav1.GetOptions{}
	if err := req.options(options); err != nil {
		return err
	}
	wanted, err := req.revision(options.ResourceVersion)
	if err != nil {
		return err
	}
	c := req.collection
	key := c.key(req.namespace, req.name)
	found, revision := c.table.Get(key)
	if options.ResourceVersion != "" {
		at, err := req.notOlderThan(wanted, revision)
		if err != nil {
			return err
		}
		if at > 0 {
			if found, err = c.table.At(key, at); err != nil {
				return err
			}
		}
	}
	switch {
	case wanted > revision:
		return tooLarge(wanted, revision, 0)
	case found == nil:
		return apierrors.NewNotFound(c.groupResource(), req.name)
	}
	return s.answerStored(w, req, http.StatusOK, found.Object)
}

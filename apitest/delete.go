package apitest

import (
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/apitest/internal/wire"
)

func (s *Server) serveDelete(w http.ResponseWriter, req *request) error {
	options, err := req.deleteOptions()
	if err != nil {
		return err
	}
	removed, err := s.remove(req.Context(), removal{
		collection: req.collection.storage(), namespace: req.namespace, name: req.name, options: *options,
	})
	if err != nil {
		return err
	}
	answer, err := req.collection.fromStored(removed.object)
	if err != nil {
		return err
	}
	if kind := req.collection.kind; removed.gone && !slices.Contains(returnsDeleted[kind.Group], kind.Kind) {
		answer = deletedStatus(req.collection, removed.object)
	}
	code := http.StatusOK
	//lint:ignore SA1019 clients may still send it
	if orphan := options.OrphanDependents; !removed.gone && orphan != nil && !*orphan {
		code = http.StatusAccepted
	}
	return s.answer(w, req, code, answer)
}

func deletedStatus(c *collection, deleted runtime.Object) *metav1.Status {
	m := metadataOf(deleted)
	status := &metav1.Status{
		Status:  metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: m.GetName(), Group: c.resource.Group, Kind: c.resource.Resource, UID: m.GetUID()},
	}
	status.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Status"})
	return status
}

// returnsDeleted are the kinds, by group, of which API servers answer a deletion with the
// object, where it is a status for others.
var returnsDeleted = map[string][]string{
	"":                {"Namespace", "PersistentVolume", "PersistentVolumeClaim", "Pod", "PodTemplate", "ResourceQuota", "Service", "ServiceAccount"},
	"resource.k8s.io": {"DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourcePoolStatusRequest", "ResourceSlice"},
	"storage.k8s.io":  {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
}

// deleteOptions reads options from the body, or else from the query.
func (r *request) deleteOptions() (*metav1.DeleteOptions, error) {
	data, err := r.body()
	if err != nil {
		return nil, err
	}
	options, err := wire.DecodeOptions(r.Header.Get("Content-Type"), data)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		if err := r.options(options); err != nil {
			return nil, err
		}
	}
	if errs := metavalidation.ValidateDeleteOptions(options); len(errs) > 0 {
		return nil, invalidOptions("DeleteOptions", errs)
	}
	return options, nil
}

// serveDeleteCollection deletes what a list with the same selectors returns, and
// answers with that list.
func (s *Server) serveDeleteCollection(w http.ResponseWriter, req *request) error {
	options, err := req.deleteOptions()
	if err != nil {
		return err
	}
	q, err := req.listQuery(s.settings.watchList)
	if err != nil {
		return err
	}
	page, err := req.collection.page(q, 0)
	if err != nil {
		return err
	}
	for _, obj := range page.objects {
		m := metadataOf(obj)
		_, err := s.remove(req.Context(), removal{
			collection: req.collection.storage(), namespace: m.GetNamespace(), name: m.GetName(), options: *options,
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return s.answerList(w, req, page)
}

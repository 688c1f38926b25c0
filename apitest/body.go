package apitest

import (
	"fmt"
	"io"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubetyped/informer/apitest/internal/wire"
)

// maxBody is the largest request body in bytes, as in Kubernetes.
const maxBody = 3 << 20

// body reads the whole body.
func (r *request) body() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("read the body: %v", err))
	}
	if len(data) > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	return data, nil
}

// objectOf reads the body as an object of a collection, with its kind set.
func (r *request) objectOf(c *collection) (runtime.Object, error) {
	data, err := r.body()
	if err != nil {
		return nil, err
	}
	return c.decode(r.Header.Get("Content-Type"), data)
}

func (c *collection) decode(contentType string, data []byte) (runtime.Object, error) {
	obj := c.newObject()
	if err := wire.Decode(contentType, data, c.kind, c.protobuf, obj); err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(c.kind)
	return obj, nil
}

// options reads the options in the query.
func (r *request) options(into runtime.Object) error {
	if err := metascheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

func invalidOptions(kind string, errs field.ErrorList) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

func isDryRun(values []string) bool { return slices.Contains(values, metav1.DryRunAll) }

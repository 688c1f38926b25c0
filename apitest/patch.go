package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubetyped/informer/apitest/internal/wire"
)

func (s *Server) servePatch(w http.ResponseWriter, req *request) error {
	kind, options, data, err := req.patchBody()
	if err != nil {
		return err
	}
	if kind == types.ApplyYAMLPatchType {
		if stored := req.collection.stored; stored != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("this server applies %s in the version in which they are stored only: use %s",
				stored.groupResource(), stored.kind.GroupVersion()))
		}
		applied, err := req.application(data, options)
		if err != nil {
			return err
		}
		obj, code, err := s.apply(req.Context(), applied)
		if err != nil {
			return err
		}
		return s.answer(w, req, code, obj)
	}
	c := req.collection
	patched, err := s.update(req.Context(), update{
		collection: c.storage(), namespace: req.namespace, name: req.name,
		part: req.part(), dryRun: isDryRun(options.DryRun), manager: req.managerOf(options.FieldManager), patched: true,
		change: func(present runtime.Object) (runtime.Object, error) {
			present, err := c.fromStored(present)
			if err != nil {
				return nil, err
			}
			patched, err := c.patch(kind, data, present)
			if err != nil {
				return nil, err
			}
			return c.toStored(patched)
		},
	})
	if err != nil {
		return err
	}
	return s.answerStored(w, req, http.StatusOK, patched)
}

// patchBody reads a patch, its kind and its options.
func (r *request) patchBody() (kind types.PatchType, options *metav1.PatchOptions, data []byte, err error) {
	if kind, err = r.patchType(); err != nil {
		return "", nil, nil, err
	}
	options = &metav1.PatchOptions{}
	if err := r.options(options); err != nil {
		return "", nil, nil, err
	}
	if errs := metavalidation.ValidatePatchOptions(options, kind); len(errs) > 0 {
		return "", nil, nil, invalidOptions("PatchOptions", errs)
	}
	data, err = r.body()
	return kind, options, data, err
}

// patchType reads the content type; it returns 415 for a patch that cannot be applied to the
// resource.
func (r *request) patchType() (types.PatchType, error) {
	supported := []types.PatchType{types.JSONPatchType, types.MergePatchType}
	if !r.collection.custom {
		supported = append(supported, types.StrategicMergePatchType)
	}
	supported = append(supported, types.ApplyYAMLPatchType)
	var names []string
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	for _, t := range supported {
		if err == nil && mediaType == string(t) {
			return t, nil
		}
		names = append(names, string(t))
	}
	return "", wire.UnsupportedMediaType(names...)
}

// patch returns a new object, the present one with the patch applied.
func (c *collection) patch(kind types.PatchType, data []byte, present runtime.Object) (runtime.Object, error) {
	var before bytes.Buffer
	if err := wire.JSON().Encode(present, &before); err != nil {
		return nil, err
	}
	after, err := c.patchJSON(kind, data, before.Bytes())
	if err != nil {
		return nil, err
	}
	patched, err := c.decode(runtime.ContentTypeJSON, after)
	if err != nil { // the patch can be read, and its result cannot
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), string(after), err.Error())})
	}
	return patched, nil
}

func (c *collection) patchJSON(kind types.PatchType, data, before []byte) ([]byte, error) {
	switch kind {
	case types.JSONPatchType:
		patch, err := jsonpatch.DecodePatch(data)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		after, err := patch.Apply(before)
		if err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", c.groupResource(), "", err.Error(), 0, false)
		}
		return after, nil
	case types.MergePatchType:
		if err := json.Unmarshal(data, &map[string]any{}); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		after, err := jsonpatch.MergePatch(before, data)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return after, nil
	case types.StrategicMergePatchType:
		after, err := strategicpatch.StrategicMergePatch(before, data, c.newObject())
		switch err {
		case mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
			mergepatch.ErrBadPatchFormatForSetElementOrderList:
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return after, err // API servers do not expect other errors either, such as a merge key that is missing
	default:
		return nil, fmt.Errorf("patch type %s", kind)
	}
}

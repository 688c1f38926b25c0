package conformance

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// writable is what testWrites asks of objects.
type writable interface {
	index.Object
	GetResourceVersion() string
}

// testWriter writes a registered type.
func testWriter(c *check) {
	testWrites(c, func() *appsv1.Deployment {
		d := deployment("d")
		d.Namespace = c.ns
		return d
	}, func(d *appsv1.Deployment) *appsv1.Deployment { return d.DeepCopy() },
		func(d *appsv1.Deployment) *int64 { return &d.Status.ObservedGeneration },
		func(d *appsv1.Deployment, n int64) { d.Spec.MinReadySeconds = int32(n) },
		func(d *appsv1.Deployment) int64 { return int64(d.Spec.MinReadySeconds) },
		`{"spec":{"minReadySeconds":3}}`)
}

// testWriterOfStructs writes a custom resource by a type that no scheme knows.
func testWriterOfStructs(c *check) {
	if c.rig.CustomKind == "" {
		c.Skip("the rig has no custom resource")
	}
	testWrites(c, func() *sized { return &sized{ObjectMeta: metav1.ObjectMeta{Namespace: c.ns, Name: "s"}} },
		func(s *sized) *sized { own := *s; return &own },
		func(s *sized) *int64 { return &s.Status.Seen },
		func(s *sized, n int64) { s.Spec.Size = n },
		func(s *sized) int64 { return s.Spec.Size },
		`{"spec":{"size":3}}`, kube.WithResource(c.rig.CustomResource), kube.WithFullUpdates())
}

// sized is a custom resource whose zero fields are not applied.
type sized struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Size int64 `json:"size,omitempty"`
	} `json:"spec"`
	Status struct {
		Seen int64 `json:"seen,omitempty"`
	} `json:"status"`
}

// testWrites does all that a kube.Writer can.
func testWrites[T writable](c *check, fresh func() T, clone func(T) T, status func(T) *int64, set func(T, int64), get func(T) int64, patch string, opts ...kube.WriterOption) {
	w, err := kube.NewWriter[T](c.config, opts...)
	require.NoError(c, err)
	key := index.KeyOf(fresh())
	obj := fresh()
	set(obj, 1)
	created, err := w.Create(c.ctx, obj, metav1.CreateOptions{FieldManager: "creator"})
	require.NoError(c, err)
	assert.EqualValues(c, 1, get(created))
	_, err = w.Create(c.ctx, obj, metav1.CreateOptions{})
	assert.True(c, apierrors.IsAlreadyExists(err), "%v", err)

	updated := clone(created)
	set(updated, 2)
	*status(updated) = 9
	updated, err = w.Update(c.ctx, updated, metav1.UpdateOptions{FieldManager: "updater"})
	require.NoError(c, err)
	assert.EqualValues(c, 2, get(updated))
	assert.Zero(c, *status(updated), "an update leaves the status alone")
	_, err = w.Update(c.ctx, created, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsConflict(err), "%v", err)

	reported := clone(updated)
	*status(reported) = 5
	reported, err = w.UpdateStatus(c.ctx, reported, metav1.UpdateOptions{})
	require.NoError(c, err)
	assert.EqualValues(c, 5, *status(reported))

	patched, err := w.Patch(c.ctx, key, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "patcher"})
	require.NoError(c, err)
	assert.EqualValues(c, 3, get(patched))
	merged := clone(patched)
	set(merged, 4)
	merged, err = w.MergePatch(c.ctx, patched, merged, metav1.PatchOptions{FieldManager: "patcher"})
	require.NoError(c, err)
	assert.EqualValues(c, 4, get(merged))
	assert.EqualValues(c, 5, *status(merged))
	_, err = w.MergePatch(c.ctx, patched, func() T { o := clone(patched); set(o, 6); return o }(), metav1.PatchOptions{})
	assert.True(c, apierrors.IsConflict(err), "%v", err)

	wanted := fresh()
	set(wanted, 7)
	_, err = w.Apply(c.ctx, wanted, metav1.ApplyOptions{FieldManager: "applier"})
	require.True(c, apierrors.IsConflict(err), "%v", err)
	assert.ErrorContains(c, err, `"patcher"`)
	applied, err := w.Apply(c.ctx, wanted, metav1.ApplyOptions{FieldManager: "applier", Force: true})
	require.NoError(c, err)
	assert.EqualValues(c, 7, get(applied))
	got, err := w.Get(c.ctx, key, metav1.GetOptions{})
	require.NoError(c, err)
	assert.Equal(c, applied, got)

	require.NoError(c, w.Delete(c.ctx, key, metav1.DeleteOptions{}))
	_, err = w.Get(c.ctx, key, metav1.GetOptions{})
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
	again, err := w.Apply(c.ctx, wanted, metav1.ApplyOptions{FieldManager: "applier"})
	require.NoError(c, err, "what does not exist is created")
	assert.EqualValues(c, 7, get(again))
}

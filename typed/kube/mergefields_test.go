package kube_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// peered is a tunnel with peers, of which it has some fields.
type peered struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Remote string          `json:"remote"`
		Peers  []peer          `json:"peers,omitempty"`
		Sites  map[string]site `json:"sites,omitempty"`
		Model  model           `json:"model"`
	} `json:"spec"`
}

type peer struct {
	Name   string            `json:"name"`
	Weight int               `json:"weight,omitempty"`
	Tags   map[string]string `json:"tags,omitempty"`
}

// model contains a list whose name in JSON is that of a field of its metadata in Go.
type model struct {
	*Loop
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Peers []peer `json:"ownerReferences,omitempty"`
}

// Loop embeds itself.
type Loop struct{ *Loop }

type site struct {
	Peers []peer `json:"peers,omitempty"`
}

// TestMergePatchKeepsFieldsOfElements: a merge patch replaces lists, so a change of one is refused if
// elements have fields that the type has not, and is sent if they have not.
func TestMergePatchKeepsFieldsOfElements(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		peers  []any
		sites  map[string]any
		model  map[string]any
		change func(*peered)
		lost   string // "": the patch is sent
		reads  int
	}{
		"a field is not in the type": {
			peers:  []any{map[string]any{"name": "a", "port": int64(7)}},
			change: func(p *peered) { p.Spec.Peers[0].Weight = 2 },
			lost:   "the patch replaces the list spec.peers, and would remove port of its elements, which a *kube_test.peered does not have", reads: 1,
		},
		"an element is removed": {
			peers:  []any{map[string]any{"name": "a"}, map[string]any{"name": "b", "tls": map[string]any{"key": "k"}}},
			change: func(p *peered) { p.Spec.Peers = p.Spec.Peers[1:] },
			lost:   "would remove tls of its elements", reads: 1,
		},
		"a list in a map": {
			sites:  map[string]any{"x": map[string]any{"peers": []any{map[string]any{"name": "a", "port": int64(7)}}}},
			change: func(p *peered) { p.Spec.Sites["x"].Peers[0].Weight = 2 },
			lost:   "the patch replaces the list spec.sites.x.peers, and would remove port", reads: 1,
		},
		"a list with the name of a promoted field": {
			model:  map[string]any{"ownerReferences": []any{map[string]any{"name": "a", "port": int64(7)}}},
			change: func(p *peered) { p.Spec.Model.Peers[0].Weight = 2 },
			lost:   "the patch replaces the list spec.model.ownerReferences, and would remove port", reads: 1,
		},
		"a list of a type of Kubernetes": {
			model:  map[string]any{"metadata": map[string]any{"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1"}}}},
			change: func(p *peered) { p.Spec.Model.OwnerReferences[0].Name = "b" },
		},
		"all fields are in the type": {
			peers:  []any{map[string]any{"name": "a", "weight": int64(1), "port": int64(0), "tags": map[string]any{"x": "y"}}},
			change: func(p *peered) { p.Spec.Peers[0].Weight = 2 }, reads: 1,
		},
		"all elements are removed": {
			peers:  []any{map[string]any{"name": "a", "port": int64(7)}},
			change: func(p *peered) { p.Spec.Peers = nil },
		},
		"another field changes": {
			peers:  []any{map[string]any{"name": "a", "port": int64(7)}},
			change: func(p *peered) { p.Spec.Remote = "10.0.0.2" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, sent := startForWrites(t)
			spec := map[string]any{"remote": "10.0.0.1"}
			if test.peers != nil {
				spec["peers"] = test.peers
			}
			if test.sites != nil {
				spec["sites"] = test.sites
			}
			if test.model != nil {
				spec["model"] = test.model
			}
			all := newWriter[*unstructured.Unstructured](t, srv.Config(), kube.WithResource(tunnelResource))
			_, err := all.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com/v1", "kind": "Tunnel", "metadata": map[string]any{"namespace": "default", "name": "a"}, "spec": spec,
			}}, metav1.CreateOptions{})
			require.NoError(t, err)
			w := newWriter[*peered](t, sent.config(srv), kube.WithResource(tunnelResource))
			old, err := w.Get(t.Context(), index.Key{Namespace: "default", Name: "a"}, metav1.GetOptions{})
			require.NoError(t, err)

			updated := kube.Copy(old)
			test.change(updated)
			before := sent.count()
			_, err = w.MergePatch(t.Context(), old, updated, metav1.PatchOptions{})
			if test.lost != "" {
				assert.ErrorContains(t, err, test.lost)
				assert.Equal(t, before+test.reads, sent.count(), "nothing is written")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, before+test.reads+1, sent.count())
		})
	}
}

// gauged is a tunnel with structs that are not encoded if they are zero.
type gauged struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Remote string `json:"remote"`
		Gauge  gauge  `json:"gauge,omitzero"`
		Spare  *gauge `json:"spare,omitempty"`

		Others map[string]gauge `json:"others,omitempty"`
	} `json:"spec"`
}

type gauge struct {
	Low   int         `json:"low,omitempty"`
	Scale scale       `json:"scale,omitzero"`
	Since metav1.Time `json:"since,omitzero"`
}

type scale struct {
	Unit string `json:"unit,omitempty"`
}

// TestMergePatchKeepsFieldsOfZeroStructs: a struct that becomes zero loses the fields that its type has,
// and no others. One behind a pointer that becomes nil is removed.
func TestMergePatchKeepsFieldsOfZeroStructs(t *testing.T) {
	t.Parallel()
	whole := func() map[string]any {
		return map[string]any{"low": int64(1), "high": int64(9), "since": "2026-01-02T03:04:05Z", "scale": map[string]any{"unit": "m", "steps": int64(3)}}
	}
	rest := map[string]any{"high": int64(9), "scale": map[string]any{"steps": int64(3)}}
	for name, test := range map[string]struct {
		change       func(*gauged)
		gauge, spare any
		x            any // of others
	}{
		"the outer struct":   {func(g *gauged) { g.Spec.Gauge = gauge{} }, rest, whole(), whole()},
		"the inner one":      {func(g *gauged) { g.Spec.Gauge.Scale = scale{} }, withField(whole(), "scale", map[string]any{"steps": int64(3)}), whole(), whole()},
		"one of a pointer":   {func(g *gauged) { *g.Spec.Spare = gauge{} }, whole(), rest, whole()},
		"a pointer":          {func(g *gauged) { g.Spec.Spare = nil }, whole(), nil, whole()},
		"no struct":          {func(g *gauged) { g.Spec.Gauge.Low = 0 }, withField(whole(), "low", nil), whole(), whole()},
		"the struct with it": {func(g *gauged) { g.Spec.Gauge, g.Spec.Spare = gauge{}, nil }, rest, nil, whole()},
		"a key of a map":     {func(g *gauged) { delete(g.Spec.Others, "x") }, whole(), whole(), nil},
		"a value of a map":   {func(g *gauged) { g.Spec.Others["x"] = gauge{} }, whole(), whole(), rest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, sent := startForWrites(t)
			all := newWriter[*unstructured.Unstructured](t, srv.Config(), kube.WithResource(tunnelResource))
			_, err := all.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com/v1", "kind": "Tunnel", "metadata": map[string]any{"namespace": "default", "name": "a"},
				"spec": map[string]any{"remote": "10.0.0.1", "gauge": whole(), "spare": whole(), "others": map[string]any{"x": whole(), "y": whole()}},
			}}, metav1.CreateOptions{})
			require.NoError(t, err)
			w := newWriter[*gauged](t, sent.config(srv), kube.WithResource(tunnelResource))
			key := index.Key{Namespace: "default", Name: "a"}
			old, err := w.Get(t.Context(), key, metav1.GetOptions{})
			require.NoError(t, err)

			updated := kube.Copy(old)
			test.change(updated)
			_, err = w.MergePatch(t.Context(), old, updated, metav1.PatchOptions{})
			require.NoError(t, err)
			is, err := all.Get(t.Context(), key, metav1.GetOptions{})
			require.NoError(t, err)
			spec := is.Object["spec"].(map[string]any)
			assert.Equal(t, test.gauge, spec["gauge"])
			assert.Equal(t, test.spare, spec["spare"])
			others := spec["others"].(map[string]any)
			assert.Equal(t, test.x, others["x"])
			assert.Equal(t, whole(), others["y"])
		})
	}
}

// withField returns an object with another value of a field, or without the field.
func withField(object map[string]any, name string, value any) map[string]any {
	if object[name] = value; value == nil {
		delete(object, name)
	}
	return object
}

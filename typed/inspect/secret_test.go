package inspect_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// password is the secret that no page may show.
const password = "correct horse battery staple"

// TestSecretsAreNeverShown reads Secrets as whatever they can be read as, from wherever, with
// all options that show contents.
func TestSecretsAreNeverShown(t *testing.T) {
	srv := apitest.Start(t)
	hidden := []string{password, base64.StdEncoding.EncodeToString([]byte(password))}
	require.NoError(t, srv.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "login", Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": password}},
		Data:       map[string][]byte{"password": []byte(password)},
	}))
	secrets := kube.WithResource(corev1.SchemeGroupVersion.WithResource("secrets"))
	config := srv.Config()
	typedSource := func() source.Source[*corev1.Secret] { return kube.FromREST[*corev1.Secret](config) }
	// bare hides where objects come from.
	bare := func(src source.Source[*corev1.Secret]) source.Source[*corev1.Secret] {
		return nowhere[*corev1.Secret]{src}
	}
	// take makes a user's own struct with a part of a Secret.
	take := func(s *corev1.Secret) *rig.Thing {
		return &rig.Thing{Namespace: s.Namespace, Name: s.Name, Node: string(s.Data["password"])}
	}
	clusters, err := fleet.NewClusters(fleet.Cluster{Name: "east", Config: config})
	require.NoError(t, err)

	byPassword := index.New("password", func(s *corev1.Secret) []string { return []string{string(s.Data["password"])} })
	named := typed.WithName("harmless")
	indexed := typed.NewInformer(typedSource(), named)
	require.NoError(t, indexed.AddIndexes(byPassword))
	withoutOrigin := typed.NewInformer(bare(typedSource()), named)
	loose := typed.NewInformer(kube.FromREST[*unstructured.Unstructured](config, secrets), named)
	looseWithoutOrigin := typed.NewInformer[*unstructured.Unstructured](nowhere[*unstructured.Unstructured]{kube.FromREST[*unstructured.Unstructured](config, secrets)}, named)
	partial := typed.NewInformer(kube.FromREST[*metav1.PartialObjectMetadata](config, secrets), named)
	partialWithoutOrigin := typed.NewInformer[*metav1.PartialObjectMetadata](nowhere[*metav1.PartialObjectMetadata]{kube.FromREST[*metav1.PartialObjectMetadata](config, secrets)}, named)
	mapped := typed.NewInformer(source.Map(typedSource(), take), named)
	mappedWithoutOrigin := typed.NewInformer(source.Map(bare(typedSource()), take), named)
	ofFleet := typed.NewInformer(fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*corev1.Secret] { return bare(typedSource()) }), named)
	factory := kube.NewFactory(config)
	t.Cleanup(factory.Shutdown)
	shared, err := kube.For[*corev1.Secret](factory)
	require.NoError(t, err)
	require.NoError(t, shared.WaitForSync(t.Context()))

	synced(t, indexed)
	synced(t, withoutOrigin)
	synced(t, loose)
	synced(t, looseWithoutOrigin)
	synced(t, partial)
	synced(t, partialWithoutOrigin)
	synced(t, mapped)
	synced(t, mappedWithoutOrigin)
	synced(t, ofFleet)
	for name, informer := range map[string]typed.AnyInformer{
		"typed": indexed, "without origin": withoutOrigin, "unstructured": loose, "unstructured without origin": looseWithoutOrigin,
		"partial": partial, "partial without origin": partialWithoutOrigin,
		"mapped": mapped, "mapped without origin": mappedWithoutOrigin, "fleet": ofFleet, "shared": shared,
	} {
		t.Run(name, func(t *testing.T) {
			inspector := newInspector(t, inspect.WithInformers(informer), inspect.WithObjectContents())
			key := "shop/login"
			if name == "fleet" {
				key = "east/shop/login"
			}
			of := decoded[snapshot.Key](t, inspector, "/?format=json&key="+key)
			require.Len(t, of.Informers, 1)
			assert.True(t, of.Informers[0].Found)
			assert.Empty(t, of.Informers[0].Object)
			assert.Contains(t, of.Informers[0].Withheld, "Secrets")
			if informer == typed.AnyInformer(withoutOrigin) { // its type is known
				assert.Equal(t, "Secrets are never shown.", of.Informers[0].Withheld)
			}
			for _, target := range []string{"/", "/?format=json", "/?key=" + key, "/?format=json&key=" + key} {
				text := get(t, inspector, target).Body.String()
				for _, it := range hidden {
					assert.NotContains(t, text, it, target)
				}
			}
		})
	}
}

// TestObjectsWithSecretsAreNotShown: an object that contains a Secret is not shown, wherever in it that
// is.
func TestObjectsWithSecretsAreNotShown(t *testing.T) {
	bundles := corev1.SchemeGroupVersion.WithResource("bundles")
	bundles.Group = "example.com"
	srv := apitest.Start(t, apitest.WithResources(apitest.Resource{GroupVersionResource: bundles, Kind: "Bundle"}))
	secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"password": password}}
	for name, spec := range map[string]any{
		"list": map[string]any{"items": []any{map[string]any{"kind": "ConfigMap"}, secret}},
		"map":  map[string]any{"first": map[string]any{"template": secret}},
		"none": map[string]any{"items": []any{map[string]any{"kind": "ConfigMap"}}},
	} {
		require.NoError(t, srv.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Bundle", "metadata": map[string]any{"namespace": "shop", "name": name}, "spec": spec,
		}}))
	}
	informer := typed.NewInformer(kube.FromREST[*unstructured.Unstructured](srv.Config(), kube.WithResource(bundles)))
	synced(t, informer)
	inspector := newInspector(t, inspect.WithInformers(informer), inspect.WithObjectContents())
	for name, withheld := range map[string]string{"list": "Secrets are never shown.", "map": "Secrets are never shown.", "none": ""} {
		of := decoded[snapshot.Key](t, inspector, "/?format=json&key=shop/"+name)
		require.Len(t, of.Informers, 1)
		assert.Equal(t, withheld, of.Informers[0].Withheld, name)
		assert.Equal(t, withheld == "", len(of.Informers[0].Object) > 0, name)
	}
}

// nowhere is a source that does not report the origin of its objects.
type nowhere[T index.Object] struct{ source.Source[T] }

// synced runs an informer until the test ends, and waits until it is synced.
func synced[T index.Object](t *testing.T, informer *typed.Informer[T]) {
	t.Helper()
	require.NoError(t, informer.WaitForSync(rig.Start(t, informer)))
}

// TestObjectContents shows objects if that was asked for, and if it is known what they are.
func TestObjectContents(t *testing.T) {
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("web", "node-1")))
	require.NoError(t, srv.Create(t.Context(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, InvolvedObject: corev1.ObjectReference{Kind: "Secret", Name: "login"},
	}))
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config()))
	events := typed.NewInformer(kube.FromREST[*unstructured.Unstructured](srv.Config(), kube.WithResource(corev1.SchemeGroupVersion.WithResource("events"))))
	ctx := rig.Start(t, pods)
	rig.Start(t, events)
	require.NoError(t, pods.WaitForSync(ctx))
	require.NoError(t, events.WaitForSync(ctx))

	closed := newInspector(t, inspect.WithInformers(pods))
	of := decoded[snapshot.Key](t, closed, "/?format=json&key=default/web")
	assert.Empty(t, of.Informers[0].Object)
	assert.Contains(t, of.Informers[0].Withheld, "WithObjectContents")
	assert.NotContains(t, page(t, closed, "/?key=default/web"), "nodeName")

	open := newInspector(t, inspect.WithInformers(pods, events), inspect.WithObjectContents())
	of = decoded[snapshot.Key](t, open, "/?format=json&key=default/web")
	require.Len(t, of.Informers, 2)
	for _, informer := range of.Informers {
		assert.NotEmpty(t, informer.Object, "also of what refers to a Secret")
	}
	assert.Contains(t, string(of.Informers[0].Object), `"nodeName":"node-1"`)
	assert.Contains(t, page(t, open, "/?key=default/web"), "&#34;nodeName&#34;: &#34;node-1&#34;")

	things := rig.New(t)
	things.Start()
	sinktest.Replace(things.Sink, "", []*rig.Thing{rig.At("x", 1)}, "1")
	require.NoError(t, things.WaitForSync(ctx))
	of = decoded[snapshot.Key](t, newInspector(t, inspect.WithInformers(things.Informer), inspect.WithObjectContents()), "/?format=json&key=ns/x")
	assert.Empty(t, of.Informers[0].Object)
	assert.True(t, strings.HasPrefix(of.Informers[0].Withheld, "The contents are not shown: it is not known"))
}

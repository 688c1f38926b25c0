package fleet_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
)

// kubeconfig returns a kubeconfig with contexts, each of a server of its name; the first
// one is the current one.
func kubeconfig(contexts ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Config\n")
	if len(contexts) > 0 {
		fmt.Fprintf(&b, "current-context: %q\n", contexts[0])
	}
	for _, list := range []string{"clusters", "users", "contexts"} {
		fmt.Fprintf(&b, "%s:\n", list)
		for _, name := range contexts {
			switch list {
			case "clusters":
				fmt.Fprintf(&b, "- name: %q\n  cluster: {server: \"https://%s.example.com\"}\n", name, strings.ToLower(filepath.Base(name)))
			case "users":
				fmt.Fprintf(&b, "- name: %q\n  user: {token: t}\n", name)
			default:
				fmt.Fprintf(&b, "- name: %q\n  context: {cluster: %q, user: %q}\n", name, name, name)
			}
		}
	}
	return b.String()
}

// TestLoadKubeconfig: contexts become clusters of their names, and those that do not exist
// are named, with those that do.
func TestLoadKubeconfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	eks := "arn:aws:eks:eu-west-1:1234:cluster/prod"
	require.NoError(t, os.WriteFile(path, []byte(kubeconfig("west", "east", eks, "of two words")), 0o600))
	clusters, err := fleet.LoadKubeconfig(path, "west", eks)
	require.NoError(t, err)
	require.Len(t, clusters, 2)
	assert.Equal(t, []string{"west", eks}, []string{clusters[0].Name, clusters[1].Name})
	assert.Equal(t, []string{"https://west.example.com", "https://prod.example.com"}, []string{clusters[0].Config.Host, clusters[1].Config.Host})
	assert.Equal(t, "t", clusters[0].Config.BearerToken)

	_, err = fleet.LoadKubeconfig(path, "west", "nrth", "west")
	assert.ErrorContains(t, err, `no context "nrth", only: `+eks+`, east, of two words, west`)
	assert.ErrorContains(t, err, `context "west" is given twice`)
	_, err = fleet.LoadKubeconfig(path)
	assert.ErrorContains(t, err, `context "of two words": cluster "of two words": a name has printable characters but spaces`)
	_, err = fleet.LoadKubeconfig(path + "s")
	assert.ErrorContains(t, err, path+"s")
}

// TestParseKubeconfig refuses what has the program read files or run commands.
func TestParseKubeconfig(t *testing.T) {
	config, err := fleet.ParseKubeconfig([]byte(kubeconfig("west", "east")))
	require.NoError(t, err)
	assert.Equal(t, "https://west.example.com", config.Host)
	with := func(field string) string {
		return strings.Replace(kubeconfig("west"), "{token: t}", field, 1)
	}
	for text, want := range map[string]string{
		"":          "the kubeconfig has no context",
		"{ nothing": "yaml",
		strings.Replace(kubeconfig("west", "east"), `current-context: "west"`, "", 1):           "several contexts and no current-context",
		strings.Replace(kubeconfig("west"), `current-context: "west"`, "current-context: x", 1): `no context "x", but: west`,
		with("{tokenFile: /etc/passwd}"):                                                               "tokenFile names a file, which is rejected",
		with("{client-key: /k, client-certificate: /c}"):                                               "client-certificate names a file",
		with("{exec: {apiVersion: v1, command: rm}}"):                                                  "command or plugin for credentials in a kubeconfig, which is rejected",
		strings.Replace(kubeconfig("west"), "cluster: {", "cluster: {certificate-authority: /ca, ", 1): "certificate-authority names a file",
	} {
		_, err := fleet.ParseKubeconfig([]byte(text))
		assert.ErrorContains(t, err, want)
	}
}

// TestSecrets: a cluster set follows Secrets; a broken one is reported, and removes no cluster.
func TestSecrets(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		secret := func(namespace, name, content string) *corev1.Secret {
			return &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"fleet": "yes"}},
				Data:       map[string][]byte{"kubeconfig": []byte(content)},
			}
		}
		other := secret("clusters", "other", kubeconfig("other"))
		other.Labels = nil
		home := apitest.Start(t, apitest.WithObjects(secret("clusters", "east", kubeconfig("x")), secret("clusters", "west", "broken"), other))
		secrets := typed.NewInformer(kube.FromREST[*corev1.Secret](home.Config(), kube.WithLabelSelector(labels.SelectorFromSet(labels.Set{"fleet": "yes"}))))

		w := prepareWorld(t, nil)
		discovery, err := fleet.Discover(w.clusters, secrets, fleet.FromSecret("kubeconfig"))
		require.NoError(t, err)
		w.start()
		assert.False(t, w.isSynced(), "it is not known yet which clusters there are")
		assert.ErrorContains(t, w.Status().Err, "waits for the clusters of *v1.Secret")
		ctx, cancel := context.WithCancel(t.Context())
		ended := call(func() error { return secrets.Run(ctx) })
		names := func() (names []string) {
			synctest.Wait()
			for _, c := range w.clusters.All() {
				names = append(names, c.Name+" at "+c.Config.Host)
			}
			return names
		}
		broken := func() (broken []string) {
			synctest.Wait()
			for _, f := range discovery.Failures() {
				broken = append(broken, fmt.Sprint(f.Key, ": ", f.Err))
			}
			return broken
		}
		assert.Equal(t, []string{"east at https://x.example.com"}, names())
		require.Len(t, broken(), 1)
		assert.Contains(t, broken()[0], "clusters/west: ")
		w.list("east", 5, at("a", 1))
		assert.True(t, w.isSynced())

		require.NoError(t, home.Update(ctx, secret("clusters", "west", kubeconfig("west"))))
		assert.Equal(t, []string{"east at https://x.example.com", "west at https://west.example.com"}, names())
		assert.Empty(t, broken())
		require.NoError(t, home.Update(ctx, secret("clusters", "west", "broken again")))
		assert.Len(t, names(), 2, "it stays as it was")
		assert.Len(t, broken(), 1)
		require.NoError(t, home.Update(ctx, secret("clusters", "west", kubeconfig("y"))))
		assert.Equal(t, "west at https://y.example.com", names()[1])

		labelled := secret("clusters", "east", kubeconfig("x"))
		labelled.Annotations = map[string]string{"touched": "true"}
		require.NoError(t, home.Update(ctx, labelled))
		w.scriptOf("east")
		assert.Len(t, w.scripts["east"], 1, "nothing that matters has changed")

		require.NoError(t, home.Create(ctx, secret("elsewhere", "east", kubeconfig("z"))))
		assert.Equal(t, []string{`elsewhere/east: add cluster "east": already defined by object "clusters/east": rename one`}, broken())
		require.NoError(t, home.Delete(ctx, secret("clusters", "east", "")))
		assert.Equal(t, "east at https://z.example.com", names()[0], "the name was free")
		assert.Empty(t, broken())
		w.next()
		assert.Empty(t, w.ListNamespace("east/ns"), "it is another cluster")

		require.NoError(t, w.clusters.Add(fleet.Cluster{Name: "own", Config: home.Config()}))
		require.NoError(t, home.Create(ctx, secret("clusters", "own", kubeconfig("own"))))
		assert.Equal(t, []string{"clusters/own: cluster own: there is one of that name in the set"}, broken())
		discovery.Close()
		require.NoError(t, home.Delete(ctx, secret("clusters", "west", "")))
		assert.Len(t, names(), 3)
		cancel()
		assert.NoError(t, <-ended)
		assert.Len(t, names(), 3, "stopping is no deletion")
	})
}

// TestFreedNameKeepsFailures: an object that gets the name of another one, and cannot be used since,
// stays a failure until it can.
func TestFreedNameKeepsFailures(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		secret := func(namespace, content string) *corev1.Secret {
			return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "east"}, Data: map[string][]byte{"kubeconfig": []byte(content)}}
		}
		home := apitest.Start(t, apitest.WithObjects(secret("a", kubeconfig("x"))))
		secrets := typed.NewInformer(kube.FromREST[*corev1.Secret](home.Config()))
		clusters := &fleet.Clusters{}
		discovery, err := fleet.Discover(clusters, secrets, fleet.FromSecret("kubeconfig"))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := call(func() error { return secrets.Run(ctx) })
		synctest.Wait()
		require.NoError(t, home.Create(ctx, secret("b", kubeconfig("y"))))
		synctest.Wait()
		require.NoError(t, home.Update(ctx, secret("b", "broken")))
		synctest.Wait()
		require.NoError(t, home.Delete(ctx, secret("a", "")))
		synctest.Wait()
		east, ok := clusters.Get("east")
		require.True(t, ok)
		assert.Equal(t, "https://y.example.com", east.Config.Host, "its last state that could be used")
		require.Len(t, discovery.Failures(), 1)
		assert.ErrorContains(t, discovery.Failures()[0].Err, `secret b/east, key "kubeconfig"`)

		require.NoError(t, home.Update(ctx, secret("b", kubeconfig("z"))))
		synctest.Wait()
		assert.Empty(t, discovery.Failures())
		cancel()
		assert.NoError(t, <-ended)
	})
}

// TestClusterProfiles: a set follows ClusterProfiles; a function that panics takes no
// cluster with it.
func TestClusterProfiles(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		profile := func(name, version string) *unstructured.Unstructured {
			return &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
				"metadata": map[string]any{"namespace": "fleet", "name": name},
				"spec":     map[string]any{"displayName": name, "clusterManager": map[string]any{"name": "m"}},
				"status":   map[string]any{"version": map[string]any{"kubernetes": version}, "properties": []any{map[string]any{"name": "region", "value": "eu"}}},
			}}
		}
		hub := apitest.Start(t, apitest.WithResources(apitest.Resource{
			GroupVersionResource: fleet.ClusterProfiles(), Kind: "ClusterProfile",
		}), apitest.WithObjects(profile("east", "1.37.2"), profile("odd", "")))
		profiles := typed.NewInformer(kube.FromREST[*fleet.ClusterProfile](hub.Config(), kube.WithResource(fleet.ClusterProfiles())))
		var clusters fleet.Clusters
		discovery, err := fleet.Discover(&clusters, profiles, func(p *fleet.ClusterProfile) ([]fleet.Cluster, error) {
			if p.Status.Version.Kubernetes == "" {
				panic("no version")
			}
			return []fleet.Cluster{{Name: p.Spec.DisplayName + "-" + p.Status.Properties[0].Value}}, nil
		})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := call(func() error { return profiles.Run(ctx) })
		synctest.Wait()
		assert.Equal(t, []fleet.Cluster{{Name: "east-eu"}}, clusters.All())
		require.Len(t, discovery.Failures(), 1)
		assert.Equal(t, index.Key{Namespace: "fleet", Name: "odd"}, discovery.Failures()[0].Key)
		assert.ErrorContains(t, discovery.Failures()[0].Err, "has panicked: no version")
		require.NoError(t, hub.Delete(ctx, profile("east", ""), profile("odd", "")))
		synctest.Wait()
		assert.Empty(t, clusters.All())
		assert.Empty(t, discovery.Failures())
		cancel()
		assert.NoError(t, <-ended)
	})
}

// TestClosedDiscoveryDelaysNoSync: informers do not wait for a discovery that was closed before
// its own informer has synced.
func TestClosedDiscoveryDelaysNoSync(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := prepareWorld(t, []string{"east"})
		secrets := typed.NewInformer(kube.FromREST[*corev1.Secret](apitest.Start(t).Config()))
		discovery, err := fleet.Discover(w.clusters, secrets, fleet.FromSecret("kubeconfig"))
		require.NoError(t, err)
		w.start()
		w.list("east", 5, at("a", 1))
		assert.False(t, w.isSynced())
		discovery.Close()
		assert.True(t, w.isSynced())
	})
}

// TestBadDiscoveries: the error names the missing argument.
func TestBadDiscoveries(t *testing.T) {
	informer := typed.NewInformer[*corev1.Secret](nil)
	of := fleet.FromSecret("kubeconfig")
	_, err := fleet.Discover(nil, informer, of)
	assert.ErrorContains(t, err, "set of clusters is nil")
	for _, none := range []fleet.Handled[*corev1.Secret]{nil, (*typed.Informer[*corev1.Secret])(nil)} {
		_, err = fleet.Discover(&fleet.Clusters{}, none, of)
		assert.ErrorContains(t, err, "informer is nil")
	}
	_, err = fleet.Discover(&fleet.Clusters{}, informer, nil)
	assert.ErrorContains(t, err, "cluster function is nil")
	_, err = fleet.Discover(&fleet.Clusters{}, informer, of)
	assert.ErrorContains(t, err, "source is nil")
}

package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// patience bounds what a check waits for.
const patience = 30 * time.Second

// Rig is a server to check.
type Rig struct {
	// Config reaches the server. The suite copies it before it changes it.
	Config *rest.Config
	// Namespace exists and is used by nobody else.
	Namespace string
	// CustomResource, if not empty, is a namespaced custom resource with a status
	// subresource, whose objects may have any fields.
	CustomResource schema.GroupVersionResource
	// CustomKind is its kind.
	CustomKind string
	// Compact, if not nil, makes the server forget its history up to now, that in
	// its caches too.
	Compact func(context.Context) error
	// WithoutWatchList says that the server refuses sendInitialEvents.
	WithoutWatchList bool
}

// TestServer runs the suite. newRig is called for every check, with that check's
// test, and may use one server for all of them, with a namespace each.
func TestServer(t *testing.T, newRig func(t *testing.T) Rig) {
	for format, contentType := range map[string]string{
		"json": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf,
	} {
		t.Run(format, func(t *testing.T) {
			for _, c := range []struct {
				name string
				run  func(*check)
			}{
				{"Create", testCreate},
				{"CreateGeneratedName", testCreateGeneratedName},
				{"CreateRefused", testCreateRefused},
				{"Update", testUpdate},
				{"UpdateRefused", testUpdateRefused},
				{"UpdateOfNothing", testUpdateOfNothing},
				{"Generation", testGeneration},
				{"Status", testStatus},
				{"Patch", testPatch},
				{"PatchRefused", testPatchRefused},
				{"Delete", testDelete},
				{"DeletePreconditions", testDeletePreconditions},
				{"DeleteCollection", testDeleteCollection},
				{"Finalizers", testFinalizers},
				{"DryRun", testDryRun},
				{"ClusterScoped", testClusterScoped},
				{"Bodies", testBodies},
				{"Accept", testAccept},
				{"ListVersions", testListVersions},
				{"ListPages", testListPages},
				{"ListPagesSelected", testListPagesSelected},
				{"ListRefused", testListRefused},
				{"Pager", testPager},
				{"Compaction", testCompaction},
				{"WatchFromVersion", testWatchFromVersion},
				{"WatchFromNow", testWatchFromNow},
				{"WatchTimeout", testWatchTimeout},
				{"WatchNamespaces", testWatchNamespaces},
				{"WatchList", testWatchList},
				{"WatchListRefused", testWatchListRefused},
				{"WatchInitialEventsByDefault", testWatchInitialEventsByDefault},
				{"SelectorLabels", testSelectorLabels},
				{"SelectorFields", testSelectorFields},
				{"Reflector", testReflector},
				{"SharedInformer", testSharedInformer},
				{"Metadata", testMetadata},
				{"Custom", testCustom},
				{"CustomWatch", testCustomWatch},
				{"Discovery", testDiscovery},
			} {
				t.Run(c.name, func(t *testing.T) { c.run(newCheck(t, newRig(t), contentType)) })
			}
		})
	}
}

// check is what one check of the suite works with.
type check struct {
	*testing.T
	rig    Rig
	ctx    context.Context
	ns     string
	config *rest.Config
	client *kubernetes.Clientset
}

func newCheck(t *testing.T, rig Rig, contentType string) *check {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	config := rest.CopyConfig(rig.Config)
	config.ContentType = contentType
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return &check{T: t, rig: rig, ctx: ctx, ns: rig.Namespace, config: config, client: client}
}

// sub returns the check for a subtest.
func (c *check) sub(t *testing.T) *check {
	own := *c
	own.T = t
	return &own
}

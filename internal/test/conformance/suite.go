package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// patience bounds what a check waits for.
const patience = time.Minute

// Rig is a server to check.
type Rig struct {
	// Config reaches the server. The suite copies it before it changes it.
	Config *rest.Config
	// Namespace exists, and only the suite uses it.
	Namespace string
	// CustomResource, if not empty, is a namespaced custom resource with the subresources
	// status and scale, whose objects may have any fields.
	CustomResource schema.GroupVersionResource
	// CustomKind is its kind.
	CustomKind string
	// Compact, if not nil, makes the server forget its history up to now, that in
	// its caches too.
	Compact func(context.Context) error
	// WithoutWatchList says that the server refuses sendInitialEvents.
	WithoutWatchList bool
	// NamespaceLifecycle says that the server looks after namespaces.
	NamespaceLifecycle bool
}

// TestServer checks what a server promises, in JSON and in protobuf.
//
// newRig is called for every check, with that check's test, and may use one server
// for all of them, with a namespace each. Checks run in parallel, and so does
// newRig.
func TestServer(t *testing.T, newRig func(t *testing.T) Rig) {
	for _, f := range []format{json, protobuf} {
		t.Run(string(f), func(t *testing.T) {
			// Nothing else runs meanwhile: parallel tests wait until this function
			// has returned.
			t.Run("Compaction", func(t *testing.T) { testCompaction(newCheck(t, newRig(t), f)) })
			for _, c := range serverChecks {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(newCheck(t, newRig(t), f))
				})
			}
		})
	}
}

var serverChecks = []struct {
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
	{"KindsWithAGeneration", testKindsWithAGeneration},
	{"GenerationsOfTheirOwn", testGenerationsOfTheirOwn},
	{"Status", testStatus},
	{"UpdateWithoutAName", testUpdateWithoutAName},
	{"UpdateOfALease", testUpdateOfALease},
	{"UpdateOfAnAbsentLease", testUpdateOfAnAbsentLease},
	{"TimeOfADeletion", testTimeOfADeletion},
	{"NamesAreLabels", testNamesAreLabels},
	{"NamesOfTheirOwn", testNamesOfTheirOwn},
	{"FinalizersWithoutADomain", testFinalizersWithoutADomain},
	{"RepeatedOwners", testRepeatedOwners},
	{"Patch", testPatch},
	{"PatchRefused", testPatchRefused},
	{"PatchOfAnotherUID", testPatchOfAnotherUID},
	{"PatchWithoutAnObject", testPatchWithoutAnObject},
	{"StrategicMergeRefused", testStrategicMergeRefused},
	{"Apply", testApply},
	{"ApplyConflict", testApplyConflict},
	{"ApplyRefused", testApplyRefused},
	{"ApplyStatus", testApplyStatus},
	{"ApplyCustom", testApplyCustom},
	{"ApplyCustomMetadata", testApplyCustomMetadata},
	{"ManagedFields", testManagedFields},
	{"ManagedFieldsChanged", testManagedFieldsChanged},
	{"ManagedFieldsNames", testManagedFieldsNames},
	{"ManagedFieldsCustom", testManagedFieldsCustom},
	{"Writer", testWriter},
	{"WriterOfStructs", testWriterOfStructs},
	{"Delete", testDelete},
	{"DeletePod", testDeletePod},
	{"DeletePodOnNode", testDeletePodOnNode},
	{"DeletePodFinalizers", testDeletePodFinalizers},
	{"DeletePropagation", testDeletePropagation},
	{"DeleteAnswers", testDeleteAnswers},
	{"AnswersAndEvents", testAnswersAndEvents},
	{"AnswersTaken", testAnswersTaken},
	{"DeletePreconditions", testDeletePreconditions},
	{"DeleteCollection", testDeleteCollection},
	{"DeleteNotAllowed", testDeleteNotAllowed},
	{"Finalizers", testFinalizers},
	{"Scale", testScale},
	{"ScalePatched", testScalePatched},
	{"ScaleOfOtherKinds", testScaleOfOtherKinds},
	{"ScaleCustom", testScaleCustom},
	{"Binding", testBinding},
	{"BindingRefused", testBindingRefused},
	{"Eviction", testEviction},
	{"EvictionBudget", testEvictionBudget},
	{"Namespaces", testNamespaces},
	{"DryRun", testDryRun},
	{"ClusterScoped", testClusterScoped},
	{"Bodies", testBodies},
	{"Accept", testAccept},
	{"Contents", testContents},
	{"ListVersions", testListVersions},
	{"ListPages", testListPages},
	{"ListPagesSelected", testListPagesSelected},
	{"ListRefused", testListRefused},
	{"Pager", testPager},
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
	{"CustomNumbers", testCustomNumbers},
	{"CustomMetadata", testCustomMetadata},
	{"CustomMetadataPruned", testCustomMetadataPruned},
	{"CustomWatch", testCustomWatch},
	{"Discovery", testDiscovery},
}

// check is what one check of the suite works with.
type check struct {
	*testing.T
	rig    Rig
	ctx    context.Context
	ns     string
	config *rest.Config
	client *kubernetes.Clientset

	// Clients of the namespace.
	maps        corev1client.ConfigMapInterface
	pods        corev1client.PodInterface
	deployments appsv1client.DeploymentInterface
}

func newCheck(t *testing.T, rig Rig, f format) *check {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	config := f.config(rig.Config)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	core, ns := client.CoreV1(), rig.Namespace
	return &check{
		T: t, rig: rig, ctx: ctx, ns: ns, config: config, client: client,
		maps: core.ConfigMaps(ns), pods: core.Pods(ns), deployments: client.AppsV1().Deployments(ns),
	}
}

// sub returns the check for a subtest.
func (c *check) sub(t *testing.T) *check {
	own := *c
	own.T = t
	return &own
}

package conformance

import "testing"

// TestInformer checks the promises of an informer that need a server to check. It covers
// streamed and plain lists, JSON and protobuf, Go types, *unstructured.Unstructured and
// *metav1.PartialObjectMetadata, and resources with and without namespaces. Client-go decodes
// the objects, or the informer's own source (FromREST), which also decodes structs outside any
// scheme.
//
// Every check ends with the same comparison: the informer, its handlers and its event streams
// hold the objects of the server, one by one, at the same version and with the same contents,
// and the delivered events play back to that state without a gap and without a duplicate.
//
// About newRig, see TestServer. Place says where
// each check runs, newRig with it.
func TestInformer(t *testing.T, newRig func(t *testing.T) Rig, place Place) {
	// Servers may be restarted by it. Parallel tests wait until this function has
	// returned.
	t.Run("Compaction", func(t *testing.T) {
		place(t, func(t *testing.T) { testInformerCompaction(t, newRig(t)) })
	})
	for _, f := range []format{json, protobuf} {
		t.Run(string(f), func(t *testing.T) {
			for _, s := range subjects(f) {
				t.Run(s.String(), func(t *testing.T) {
					t.Parallel()
					s.run(t, newRig, place)
				})
			}
		})
	}
}

// Place runs a check: RealTime, or synctest.Test where the server is in memory, so that a
// client's delays take no time.
type Place func(t *testing.T, check func(t *testing.T))

// RealTime is the Place of servers outside of this process.
func RealTime(t *testing.T, check func(t *testing.T)) { check(t) }

// subject is an informer of some type of objects, and the way in which it gets
// them.
type subject interface {
	String() string
	// run runs all checks.
	run(t *testing.T, newRig func(t *testing.T) Rig, place Place)
	// outlast begins a check that takes part in testInformerCompaction.
	outlast(t *testing.T, rig Rig, label string) outlasting
}

// subjects returns those whose clients speak a format.
func subjects(f format) []subject {
	var all []subject
	for _, streamed := range []bool{true, false} {
		switch f {
		case json:
			all = append(all, typedPods(f, streamed), unstructuredCustoms(f, streamed), restPods(f, streamed), restCustoms(f, streamed), restMetadata(f, streamed), restStructs(f, streamed), restPacked(f, streamed))
		case protobuf:
			all = append(all, typedPods(f, streamed), typedClusterRoles(f, streamed), podMetadata(f, streamed), restPods(f, streamed), restMetadata(f, streamed), restPacked(f, streamed))
		}
		all = append(all, composed(f, streamed)...)
	}
	return all
}

// informerCheck is a check of an informer of any type.
type informerCheck[T object] struct {
	name string
	run  func(*scene, *way[T])
}

func informerChecks[T object]() []informerCheck[T] {
	return []informerCheck[T]{
		{"InitialList", testInformerInitialList[T]},
		{"EmptyList", testInformerEmptyList[T]},
		{"Changes", testInformerChanges[T]},
		{"Indexes", testInformerIndexes[T]},
		{"ReadYourWrites", testInformerReadYourWrites[T]},
		{"LabelSelector", testInformerLabelSelector[T]},
		{"FieldSelector", testInformerFieldSelector[T]},
		{"Namespaces", testInformerNamespaces[T]},
		{"Relist", testInformerRelist[T]},
		{"Cut", testInformerCut[T]},
		{"LateHandler", testInformerLateHandler[T]},
		{"DeleteCollection", testInformerDeleteCollection[T]},
		{"Status", testInformerStatus[T]},
		{"Finalizers", testInformerFinalizers[T]},
	}
}

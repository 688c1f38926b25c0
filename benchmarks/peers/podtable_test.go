package peers

import (
	"testing"

	"github.com/cilium/statedb"
	statedbindex "github.com/cilium/statedb/index"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// podTable is a table of Pods with three indexes, of which the primary one is
// ordered by namespace.
type podTable struct {
	*statedb.DB
	statedb.RWTable[*corev1.Pod]
}

var (
	podsByKey = statedb.Index[*corev1.Pod, string]{
		Name: "key",
		FromObject: func(pod *corev1.Pod) statedbindex.KeySet {
			return statedbindex.NewKeySet(statedbindex.String(pod.Namespace + "/" + pod.Name))
		},
		FromKey: statedbindex.String,
		Unique:  true,
	}
	podsByNode = statedb.Index[*corev1.Pod, string]{
		Name: "node",
		FromObject: func(pod *corev1.Pod) statedbindex.KeySet {
			if pod.Spec.NodeName == "" {
				return statedbindex.KeySet{}
			}
			return statedbindex.NewKeySet(statedbindex.String(pod.Spec.NodeName))
		},
		FromKey: statedbindex.String,
	}
	podsByApp = statedb.Index[*corev1.Pod, string]{
		Name: "app",
		FromObject: func(pod *corev1.Pod) statedbindex.KeySet {
			if app, ok := pod.Labels["app"]; ok {
				return statedbindex.NewKeySet(statedbindex.String(app))
			}
			return statedbindex.KeySet{}
		},
		FromKey: statedbindex.String,
	}
)

// newPodTable returns a table in a new database, which keeps no metrics, as in the benchmarks of
// statedb.
func newPodTable(tb testing.TB) *podTable {
	db := statedb.New(statedb.WithMetrics(&statedb.NopMetrics{}))
	table, err := statedb.NewTableAny(db, "pods",
		func() []string { return []string{"Pod"} },
		func(pod *corev1.Pod) []string { return []string{pod.Namespace + "/" + pod.Name} },
		podsByKey, podsByNode, podsByApp)
	require.NoError(tb, err)
	require.NoError(tb, db.Start())
	return &podTable{DB: db, RWTable: table}
}

func (t *podTable) close(tb testing.TB) { require.NoError(tb, t.Stop()) }

func (t *podTable) get(key podKey) (*corev1.Pod, bool) {
	pod, _, ok := t.Get(t.ReadTxn(), podsByKey.Query(key.joined))
	return pod, ok
}

func (t *podTable) byApp(app string) found {
	return found{pods: statedb.Collect(t.List(t.ReadTxn(), podsByApp.Query(app)))}
}

func (t *podTable) byNode(node string) found {
	return found{pods: statedb.Collect(t.List(t.ReadTxn(), podsByNode.Query(node)))}
}

func (t *podTable) inNamespace(namespace string) found {
	return found{pods: statedb.Collect(t.Prefix(t.ReadTxn(), podsByKey.Query(namespace+"/")))}
}

// all makes room for all Pods at once, which Collect cannot.
func (t *podTable) all() found {
	txn := t.ReadTxn()
	pods := make([]*corev1.Pod, 0, t.NumObjects(txn))
	for pod := range t.All(txn) {
		pods = append(pods, pod)
	}
	return found{pods: pods}
}

func (t *podTable) rangeByApp(app string) int {
	n := 0
	for range t.List(t.ReadTxn(), podsByApp.Query(app)) {
		n++
	}
	return n
}

func (t *podTable) rangeAll() int {
	n := 0
	for range t.All(t.ReadTxn()) {
		n++
	}
	return n
}

package peers

import (
	"context"
	"sync"
	"testing"

	"github.com/cilium/statedb"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// stateDBCache is a table that holds what a Reflector reports.
type stateDBCache struct {
	*podTable
	end func()
}

func startStateDB(tb testing.TB, from *source, handlers ...calls) podCache {
	table := newPodTable(tb)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	r := newReflection(table)
	running.Go(func() { r.run(ctx, from) })
	c := &stateDBCache{podTable: table, end: func() {
		cancel()
		running.Wait()
		table.close(tb)
	}}
	_, initialized := table.Initialized(table.ReadTxn())
	<-initialized
	var synced []<-chan struct{}
	for _, h := range handlers {
		txn := table.WriteTxn(table)
		changes, err := table.Changes(txn)
		txn.Commit()
		require.NoError(tb, err)
		listed := make(chan struct{})
		synced = append(synced, listed)
		running.Go(func() { h.follow(ctx, table, changes, listed) })
	}
	for _, listed := range synced {
		<-listed
	}
	return c
}

// follow calls h for the objects in the table, closes listed, and then calls it for each change
// until ctx ends. A change has the revision of the table that it made. Those that are missing
// before it were of objects that have changed again since.
func (h calls) follow(ctx context.Context, table *podTable, changes statedb.ChangeIterator[*corev1.Pod], listed chan<- struct{}) {
	defer changes.Close()
	last := statedb.Revision(0)
	for {
		some, changed := changes.Next(table.ReadTxn())
		for change, revision := range some {
			switch {
			case listed != nil && h.add != nil:
				h.add(change.Object)
			case listed == nil && h.update != nil:
				h.update(change.Object, int(revision-last)-1)
			}
			last = revision
		}
		if listed != nil {
			close(listed)
			listed = nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (c *stateDBCache) stop() { c.end() }

package shard_test

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/shard"
)

// TestWatchesOfMembers: a server that selects has at most four watches of objects from each
// member of a group, including after members have joined one by one, and after one has left.
func TestWatchesOfMembers(t *testing.T) {
	members := flag.Lookup("shard.members").Value.(flag.Getter).Get().(int)
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		for i := range 200 {
			require.NoError(t, srv.Create(t.Context(), configMap(i)))
		}
		l := &ledger{at: map[index.Key]string{}, seen: map[index.Key]map[string]bool{}}
		var replicas []*replica
		for i := range members {
			replicas = append(replicas, start(t, srv, l, fmt.Sprintf("member-%02d", i), shard.UID(), obeying))
			time.Sleep(10 * time.Second)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		watches := srv.Watches("configmaps")
		t.Logf("%d members: %d watches", members, watches)
		assert.GreaterOrEqual(t, watches, members)
		assert.LessOrEqual(t, watches, 4*members)
		check(t, srv, l, true, replicas...)

		require.NoError(t, replicas[0].stop())
		time.Sleep(2 * time.Minute)
		watches = srv.Watches("configmaps")
		t.Logf("%d members: %d watches", members-1, watches)
		assert.LessOrEqual(t, watches, 4*(members-1))
		check(t, srv, l, true, replicas[1:]...)
	})
}

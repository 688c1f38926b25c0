package shard

import (
	"encoding/json"
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/index"
)

var fifty = flag.Int("shard.members", 10, "how many members TestCostOfMembers and TestWatchesOfMembers have")

// TestCostOfMembers: what the members of a group ask for, at rest, and how soon shares of
// 100,000 keys are equal after a member joins, leaves or dies; lists of objects take a second.
func TestCostOfMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		join := func(i int) *simulated {
			m := p.joinListing(time.Second, fmt.Sprintf("controller-7d4b9c6f5-%05d", i), WithHash(Key()))
			time.Sleep(37 * time.Millisecond)
			return m
		}
		for i := range *fifty {
			join(i)
		}
		time.Sleep(3 * time.Minute)
		assert.True(t, p.isEqual(*fifty))

		p.store.mu.Lock()
		clear(p.store.requests)
		p.store.mu.Unlock()
		time.Sleep(time.Minute)
		lists, writes := p.store.count("list"), p.store.count("update")
		text, err := json.Marshal(p.store.now())
		assert.NoError(t, err)
		t.Logf("%d members: %.1f lists and %.1f writes a second, %d bytes a list, %.2f MB/s", *fifty,
			float64(lists)/60, float64(writes)/60, len(text), float64(lists)/60*float64(len(text))/1e6)
		p.logLargest()

		until := func(what string, members int, begin time.Time) {
			for !p.isEqual(members) && time.Since(begin) < time.Minute {
				time.Sleep(100 * time.Millisecond)
			}
			t.Logf("%s: shares are equal after %v", what, time.Since(begin))
			assert.True(t, p.isEqual(members), what)
			time.Sleep(time.Minute)
		}
		begin := time.Now()
		m := join(*fifty)
		until("a member joins", *fifty+1, begin)
		begin = time.Now()
		m.Leave(t.Context())
		m.stop()
		until("a member leaves", *fifty, begin)
		m = p.members[0]
		begin = time.Now()
		m.set(func(c *leaseClient) { c.dead = true })
		m.stop()
		until("a member dies", *fifty-1, begin)
	})
}

// isEqual reports whether so many members work on all ranges, in equal shares.
func (p *party) isEqual(members int) bool {
	working, all := 0, 0
	for _, m := range p.members {
		n := m.Status().Ranges
		if m.isDead() || n == 0 {
			continue
		}
		working, all = working+1, all+n
		if n < rangeCount/members || n > rangeCount/members+1 {
			return false
		}
	}
	return working == members && all == rangeCount
}

// logLargest logs how far the largest share of 100,000 keys is above the average.
func (p *party) logLargest() {
	shares := map[string]int{}
	most := 0
	for i := range 100_000 {
		r, _ := p.members[0].rangeOfKey(index.KeyOf(pod(i)))
		for _, m := range p.members {
			if m.owns(r) {
				shares[m.identity]++
				most = max(most, shares[m.identity])
			}
		}
	}
	p.t.Logf("100,000 keys: the largest share is %d, %d on average", most, 100_000/len(shares))
}

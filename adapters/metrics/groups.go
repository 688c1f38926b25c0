package metrics

import (
	"github.com/kubetyped/informer/typed/fleet"
)

// collectGroups sets the metrics of the groups that were added.
func (c *collection) collectGroups() {
	for g := range distinct(c.options.groups) {
		s, l := g.Status(), c.labelled(g.Name())
		c.set(shardMembers, l, float64(len(s.Members)))
		c.set(shardRanges, l, float64(s.Ranges))
		c.set(shardWanted, l, float64(s.Wanted))
		c.set(shardLeaving, l, float64(s.Leaving))
		c.set(shardCalls, l, float64(s.Calls))
		c.set(shardValid, l, one(s.Valid))
		c.set(shardFailing, l, one(s.Err != nil))
		c.setTime(shardRenewed, l, s.Renewed)
		c.add(shardLapsed, c.from(source{of: g}), l, float64(s.Lapsed))
		c.add(shardEdited, c.from(source{of: g}), l, float64(s.Edited))
		c.add(shardOverlaps, c.from(source{of: g}), l, float64(s.Overlaps))
		c.add(shardLost, c.from(source{of: g}), l, float64(s.Lost))
	}
}

// fleetPhases are the values of the label phase of clusters.
var fleetPhases = [...]fleet.Phase{fleet.PhaseNew, fleet.PhaseListing, fleet.PhaseSynced, fleet.PhaseStale, fleet.PhaseEnded, fleet.PhaseFailed}

// collectFleets sets the metrics of the clusters of the fleets that were added.
func (c *collection) collectFleets() {
	for f := range distinct(c.options.fleets) {
		clusters := f.Status()
		if len(clusters) == 0 && !c.options.clusterNames {
			c.collectPhase(c.labelled(f.name), 1, nil) // it has none: that is to be seen
		}
		for n := range clusters {
			s := &clusters[n]
			l, labels := c.labelled(f.name), 1
			if c.options.clusterNames {
				l, labels = c.with(l, labels, s.Cluster), labels+1
			}
			c.collectPhase(l, labels, s)
			c.set(fleetObjects, l, float64(s.Objects))
			c.set(fleetFailing, l, one(s.Failures > 0 || s.Phase == fleet.PhaseFailed))
			c.set(fleetFailures, l, float64(s.Failures))
			c.setTime(fleetContact, l, s.LastContact)
			if s.Failures > 0 {
				c.setTime(fleetFailure, l, s.Since)
			}
		}
	}
}

// collectPhase sets the phase of a cluster, nil stands for no cluster.
func (c *collection) collectPhase(l *labels, n int, s *fleet.ClusterStatus) {
	for _, p := range fleetPhases {
		c.set(fleetClusters, c.with(l, n, p.String()), one(s != nil && s.Phase == p))
	}
}

// one is 1 for true.
func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

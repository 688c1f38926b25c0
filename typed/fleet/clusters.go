package fleet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubetyped/informer/internal/monitor"
)

// ErrNotMember is wrapped by errors about a cluster that is not in a set.
var ErrNotMember = errors.New("not in the set of clusters")

// Clusters is a set of clusters that informers follow, see [NewSource]. It may change at
// any time; any number of informers may follow one set. Its methods are safe for
// concurrent use and do not wait for informers. The zero Clusters is empty.
//
// A [Discovery] keeps a set up to date; a program may change the same set as well.
type Clusters struct {
	mu      sync.Mutex
	members map[string]entry // guarded by mu
	changes uint64           // guarded by mu; counts them
	pending map[*hold]bool   // guarded by mu

	followers monitor.Waiters // of the set
}

// entry is a cluster of a set.
type entry struct {
	Cluster
	joined  uint64 // since which change it is in the set
	changed uint64 // since which change it is as it is
}

// NewClusters returns a set of the given clusters, or an error if Add does.
func NewClusters(clusters ...Cluster) (*Clusters, error) {
	c := &Clusters{}
	if err := c.Add(clusters...); err != nil {
		return nil, err
	}
	return c, nil
}

// All returns the clusters in the order of their names. The slice is the caller's.
func (c *Clusters) All() []Cluster {
	entries, _ := c.now()
	all := make([]Cluster, len(entries))
	for i := range entries {
		all[i] = entries[i].Cluster
	}
	return all
}

// Get returns the cluster of a name, false if it is not in the set.
func (c *Clusters) Get(name string) (Cluster, bool) {
	e, ok := c.entry(name)
	return e.Cluster, ok
}

func (c *Clusters) entry(name string) (entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.members[name]
	return e, ok
}

// Add adds clusters. It returns an error, and adds none, if one has a name that cannot be
// used, or that of another one, which may be in the set already.
func (c *Clusters) Add(clusters ...Cluster) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	seen := map[string]bool{}
	for _, added := range clusters {
		err := checkName(added.Name)
		_, exists := c.members[added.Name]
		switch {
		case err != nil:
			errs = append(errs, err)
		case exists:
			errs = append(errs, fmt.Errorf("cluster %s: there is one of that name in the set", added.Name))
		case seen[added.Name]:
			errs = append(errs, fmt.Errorf("cluster %s: there are two of that name", added.Name))
		}
		seen[added.Name] = true
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, added := range clusters {
		c.put(added)
	}
	c.followers.Wake()
	return nil
}

// Put adds a cluster, or has the one of that name be as given from now on: its objects
// stay until they are listed with the new configuration, and are then compared with that
// list, as after any interruption. Versions of another server are its own: who waits for
// one waits for that list. It returns an error, and changes nothing, if the name
// cannot be used.
func (c *Clusters) Put(cluster Cluster) error {
	if err := checkName(cluster.Name); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(cluster)
	c.followers.Wake()
	return nil
}

// put adds or changes a cluster. The caller holds mu.
func (c *Clusters) put(cluster Cluster) {
	if c.members == nil {
		c.members = map[string]entry{}
	}
	c.changes++
	e, exists := c.members[cluster.Name]
	if !exists {
		e.joined = c.changes
	}
	e.Cluster, e.changed = cluster, c.changes
	c.members[cluster.Name] = e
}

// Remove removes clusters, of which some may not be in the set. Their objects are
// deleted with the reason index.Released, even if a cluster of that name is added again
// at once.
func (c *Clusters) Remove(names ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		delete(c.members, name)
	}
	c.followers.Wake()
}

// now returns the entries in the order of their names, and what the set waits for before
// it is known which clusters there are, "" for nothing.
func (c *Clusters) now() (entries []entry, waitsFor string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entries = slices.SortedFunc(maps.Values(c.members), func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	var holds []string
	for h := range c.pending {
		holds = append(holds, h.waitsFor)
	}
	slices.Sort(holds)
	return entries, strings.Join(holds, ", ")
}

// hold is a discovery that does not know all its clusters yet.
type hold struct{ waitsFor string }

// hold keeps informers from syncing with the clusters that are there, until release.
func (c *Clusters) hold(h *hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil {
		c.pending = map[*hold]bool{}
	}
	c.pending[h] = true
}

// release ends a hold.
func (c *Clusters) release(h *hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, h)
	c.followers.Wake()
}

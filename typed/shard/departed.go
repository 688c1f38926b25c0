package shard

import "github.com/kubetyped/informer/index"

// mostDeparted is about how many keys of deleted objects are remembered.
const mostDeparted = 100_000

// departed remembers the ranges of objects that were deleted, until their keys have been worked
// on. When there are too many, it forgets the oldest.
type departed struct{ young, old map[index.Key]uint8 }

func (d *departed) add(key index.Key, r uint8) {
	if len(d.young) >= mostDeparted {
		d.old, d.young = d.young, nil
	}
	if d.young == nil {
		d.young = map[index.Key]uint8{}
	}
	d.young[key] = r
}

func (d *departed) get(key index.Key) (uint8, bool) {
	if r, ok := d.young[key]; ok {
		return r, true
	}
	r, ok := d.old[key]
	return r, ok
}

func (d *departed) remove(key index.Key) {
	delete(d.young, key)
	delete(d.old, key)
}

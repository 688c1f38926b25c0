package plan

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantities are decoded quantities, kept for those that come again, as requests and limits of
// containers do: to parse a text costs ten times as much as to find it here. A new one replaces
// the one in its slot.
var quantities [256]atomic.Pointer[quantity]

// quantity is a decoded quantity.
type quantity struct {
	data  string // what it was decoded from
	value resource.Quantity
}

// longestQuantity is how many bytes of data are remembered; most have a few.
const longestQuantity = 24

// quantityOf decodes a quantity.
func quantityOf(data []byte) (resource.Quantity, error) {
	hash := uint32(2166136261) // FNV-1a
	for _, b := range data[:min(len(data), longestQuantity)] {
		hash = (hash ^ uint32(b)) * 16777619
	}
	at := &quantities[hash>>24]
	if q := at.Load(); q != nil && q.data == string(data) {
		return q.value, nil
	}
	var value resource.Quantity
	if err := value.Unmarshal(data); err != nil {
		return value, err
	}
	var again resource.Quantity
	// Two that are equal as structs refer to nothing that could be modified.
	if len(data) <= longestQuantity && again.Unmarshal(data) == nil && again == value {
		at.Store(&quantity{string(data), value})
	}
	return value, nil
}

func decodeQuantity(to *resource.Quantity, data []byte) (err error) {
	*to, err = quantityOf(data)
	return err
}

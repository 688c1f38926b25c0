package cachemutation

import "golang.org/x/tools/go/ssa"

// overwritten returns the slices whose elements an append to a value writes to: those that the
// value is the beginning of. After s[:n:n], append makes a new slice.
func (f *frame) overwritten(v ssa.Value, seen map[ssa.Value]bool) (slices refs) {
	if seen[v] {
		return nil
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Slice:
		switch {
		case v.Max != nil:
			return nil
		case v.High != nil:
			return f.values[v.X]
		}
		return f.overwritten(v.X, seen)
	case *ssa.Phi:
		for _, from := range v.Edges {
			slices = slices.add(f.overwritten(from, seen)...)
		}
	case *ssa.Call:
		if b, ok := v.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
			return f.overwritten(v.Call.Args[0], seen)
		}
	}
	return slices
}

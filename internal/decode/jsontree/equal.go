package jsontree

import "math"

// equal reports whether two values, of which this package has made the first, are the
// same in JSON.
func equal(made, other any) bool {
	if dataOf(made) == dataOf(other) && typeOf(made) == typeOf(other) {
		return true
	}
	switch made := made.(type) {
	case string:
		s, ok := other.(string)
		return ok && s == made
	case bool:
		b, ok := other.(bool)
		return ok && b == made
	case int64:
		n, ok := other.(int64)
		return ok && n == made
	case float64:
		f, ok := other.(float64)
		return ok && math.Float64bits(f) == math.Float64bits(made)
	case map[string]any:
		m, ok := other.(map[string]any)
		return ok && m != nil && equalMaps(made, m)
	case []any:
		s, ok := other.([]any)
		return ok && s != nil && equalSlices(made, s)
	default: // nil, which is identical to nothing else
		return false
	}
}

func equalMaps(made, other map[string]any) bool {
	if len(made) != len(other) {
		return false
	}
	for key, value := range made {
		if o, ok := other[key]; !ok || !equal(value, o) {
			return false
		}
	}
	return true
}

// equalSlices also wants no room after the other slice.
func equalSlices(made, other []any) bool {
	if len(made) != len(other) || cap(other) != len(other) {
		return false
	}
	for i := range made {
		if !equal(made[i], other[i]) {
			return false
		}
	}
	return true
}

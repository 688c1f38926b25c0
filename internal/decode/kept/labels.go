package kept

import (
	"maps"
	"slices"
	"strings"
	"unique"

	"k8s.io/apimachinery/pkg/labels"
)

// Labels are labels in one string, that is one value for all objects that have the same.
type Labels struct{ text unique.Handle[string] }

var (
	_    labels.Labels = Labels{}
	none               = unique.Make("")
)

// end ends each key and each value: it is in neither.
const end = "\x00"

// labelsOf returns the labels of a map.
func labelsOf(set map[string]string) Labels {
	if len(set) == 0 {
		return Labels{none}
	}
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(set)) {
		text.WriteString(key)
		text.WriteString(end)
		text.WriteString(set[key])
		text.WriteString(end)
	}
	return Labels{unique.Make(text.String())}
}

// Lookup implements labels.Labels.
func (l Labels) Lookup(label string) (value string, exists bool) {
	for rest := l.text.Value(); rest != ""; {
		var key string
		key, rest, _ = strings.Cut(rest, end)
		value, rest, _ = strings.Cut(rest, end)
		if key == label {
			return value, true
		}
	}
	return "", false
}

// Has implements labels.Labels.
func (l Labels) Has(label string) bool {
	_, exists := l.Lookup(label)
	return exists
}

// Get implements labels.Labels.
func (l Labels) Get(label string) string {
	value, _ := l.Lookup(label)
	return value
}

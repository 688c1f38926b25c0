package kept

import (
	"encoding/binary"
	"maps"
	"slices"
	"unique"

	"k8s.io/apimachinery/pkg/labels"
)

// Labels are labels in one string, that is one value for all objects that have the same.
type Labels struct{ text unique.Handle[string] }

var (
	_    labels.Labels = Labels{}
	none               = unique.Make("")
)

// labelsOf returns the labels of a map. Before each key and each value stands its length, since a
// server may send any bytes in them.
func labelsOf(set map[string]string) Labels {
	if len(set) == 0 {
		return Labels{none}
	}
	var text []byte
	for _, key := range slices.Sorted(maps.Keys(set)) {
		text = appendPiece(appendPiece(text, key), set[key])
	}
	return Labels{unique.Make(string(text))}
}

func appendPiece(text []byte, piece string) []byte {
	return append(binary.AppendUvarint(text, uint64(len(piece))), piece...)
}

// cutPiece returns the first piece of a text, and the rest.
func cutPiece(text string) (piece, rest string) {
	size, shift := 0, 0
	for i := range len(text) {
		size |= int(text[i]&0x7f) << shift
		if shift += 7; text[i] < 0x80 {
			text = text[i+1:]
			break
		}
	}
	return text[:size], text[size:]
}

// Lookup implements labels.Labels.
func (l Labels) Lookup(label string) (value string, exists bool) {
	for rest := l.text.Value(); rest != ""; {
		var key string
		key, rest = cutPiece(rest)
		value, rest = cutPiece(rest)
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

package history

import (
	"fmt"
	"slices"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/semantic"
)

// Diff compares two sets of objects, one by one, and describes each object that
// is in one of them only, or in both with different versions or contents. What
// "want" and "got" are called in the descriptions, the caller says.
func Diff[T Object](wantName string, want []T, gotName string, got []T) []string {
	rest := make(map[index.Key]T, len(got))
	for _, obj := range got {
		rest[index.KeyOf(obj)] = obj
	}
	equal := semantic.Equal[T]()
	var differences []string
	for _, w := range want {
		key := index.KeyOf(w)
		g, ok := rest[key]
		delete(rest, key)
		switch {
		case !ok:
			differences = append(differences, fmt.Sprintf("%s: only in %s", describe(w), wantName))
		case w.GetResourceVersion() != g.GetResourceVersion():
			differences = append(differences, fmt.Sprintf("%v: version %s in %s, %s in %s",
				key, w.GetResourceVersion(), wantName, g.GetResourceVersion(), gotName))
		case !equal(w, g):
			differences = append(differences, fmt.Sprintf("%s: different contents in %s and %s", describe(w), wantName, gotName))
		}
	}
	for _, g := range rest {
		differences = append(differences, fmt.Sprintf("%s: only in %s", describe(g), gotName))
	}
	slices.Sort(differences)
	return differences
}

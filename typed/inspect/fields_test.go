package inspect_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// notOnThePage are the fields that are for programs.
var notOnThePage = []string{
	".Problems[].Reason", ".Problems[].Severity", ".Problems[].Part", // as a sign, and as the link
	".Informers[].ID", ".Queues[].ID", ".Expectations[].ID", ".Groups[].ID", ".Fleets[].ID", ".Writes[].ID", ".Controllers[].ID", // as what is linked to
	".Informers[].LastError", // if there is no error now
	".Informers[].Holders[].Function", ".Informers[].Holders[].File", ".Informers[].Holders[].Line",
	".Informers[].Received", ".Informers[].Expected", // while it lists
	".Informers[].Heap.Objects",                        // as words
	".Totals.Failing",                                  // as problems
	".Queues[].Stuck", ".Fleets[].Clusters[].Received", // as a problem; if it is known how many are expected
	".Fleets[].Clusters[].LastError", // if there is no error now
	".Informers[].Name",              // without the host
	".Problems[].Name",
}

// TestEveryFieldIsShown gives each text and count of a report its own value, and finds all of them
// on the page.
func TestEveryFieldIsShown(t *testing.T) {
	r := madeUp()
	values := map[string]string{}
	n := 0
	visit(reflect.ValueOf(r), "", func(path string, leaf reflect.Value) {
		if slices.Contains(notOnThePage, path) || strings.Contains(path, "Buckets") || leaf.Type() == reflect.TypeFor[snapshot.Severity]() {
			return
		}
		n++
		switch leaf.Kind() {
		case reflect.String:
			if strings.HasSuffix(path, ".Phase") {
				return
			}
			if leaf.String() == "" {
				return
			}
			value := fmt.Sprintf("text-%d-", n)
			leaf.SetString(value)
			values[value] = path
		case reflect.Int, reflect.Uint64, reflect.Int64:
			if strings.HasSuffix(path, "Bytes") || strings.Contains(path, "Budget") || strings.Contains(path, "Deduplication.Found") || strings.Contains(path, "Deduplication.Looked") {
				return
			}
			if leaf.IsZero() && (strings.HasSuffix(path, "Failures") || strings.HasSuffix(path, "Panics")) {
				return // the page shows no zero here
			}
			if leaf.CanInt() {
				leaf.SetInt(int64(700_000 + n))
			} else {
				leaf.SetUint(uint64(700_000 + n))
			}
			values[fmt.Sprintf("700,%03d", n)] = path
			require.Less(t, n, 1000)
		}
	})
	require.Greater(t, len(values), 150)
	text := inspect.PageOf(r, "", "")
	for value, path := range values {
		assert.True(t, strings.Contains(text, value) || strings.Contains(text, strings.ReplaceAll(value, ",", "")), path)
	}
	for _, shown := range []string{
		"84 MiB", "214 MiB", "28% of all", "86% used", "12,097 of 14,000 objects", "38% used", "15,234 of 40,000 objects", "for 14 min", "for 7 min", "20 min ago", "605 ms to decode", "now", "never", "0 B", "waits for 94 s",
		"renewed now", "✕&nbsp;Forbidden", "✓</span>&nbsp;Synced", "<svg class=\"histogram\"", "2,201 calls up to 100 ms", "90% found", "for 22 min",
	} {
		assert.Contains(t, strings.ReplaceAll(text, "</span>&nbsp;Forbidden", "&nbsp;Forbidden"), shown)
	}

	k := madeUpKey()
	clear(values)
	visit(reflect.ValueOf(k), "", func(path string, leaf reflect.Value) {
		if leaf.Kind() != reflect.String || leaf.String() == "" || strings.HasSuffix(path, "ID") && !strings.HasSuffix(path, "UID") || leaf.Type() == reflect.TypeFor[snapshot.Severity]() {
			return
		}
		switch path {
		case ".Namespace", ".Name", ".Informers[].Handlers[].Slowest.Key", ".Queues[].Failing.Key", ".Expectations[].Expectation.Key", ".Informers[].Withheld":
			return // it is the key of the page
		}
		n++
		value := fmt.Sprintf("text-%d-", n)
		leaf.SetString(value)
		values[value] = path
	})
	text = inspect.KeyPageOf("shop-controller", "shop/order-0815", k)
	for value, path := range values {
		assert.Contains(t, text, value, path)
	}
	assert.Contains(t, text, "shop/order-0815")
	assert.Contains(t, html.UnescapeString(text), `"sku": "a-1"`)
}

var rewrite = flag.Bool("rewrite", false, "write testdata anew")

// TestStructureOfJSON compares the names and types of the JSON with those that were promised
// before.
func TestStructureOfJSON(t *testing.T) {
	for name, v := range map[string]any{"report": madeUp(), "key": madeUpKey()} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		var tree any
		require.NoError(t, json.Unmarshal(text, &tree))
		paths := map[string]bool{}
		structureOf(tree, "", paths)
		got := strings.Join(slices.Sorted(maps.Keys(paths)), "\n") + "\n"
		file := filepath.Join("testdata", name+".txt")
		if *rewrite {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(want), got, "programs read it; -rewrite writes it anew")
	}
}

// structureOf notes the paths of a tree, and the types of its values.
func structureOf(value any, path string, paths map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		if strings.HasSuffix(path, ".object") {
			paths[path+" object"] = true
			return
		}
		for name, inner := range value {
			structureOf(inner, path+"."+name, paths)
		}
	case []any:
		paths[path+"[] list"] = true
		for _, inner := range value {
			structureOf(inner, path+"[]", paths)
		}
	case nil:
		paths[path+" null"] = true
	default:
		paths[fmt.Sprintf("%s %T", path, value)] = true
	}
}

// TestEmptyListsAreLists has no list be null, of which programs would have to know.
func TestEmptyListsAreLists(t *testing.T) {
	inspector := newInspector(t)
	for _, target := range []string{"/?format=json", "/?format=json&key=a"} {
		assert.NotContains(t, get(t, inspector, target).Body.String(), "null")
	}
}

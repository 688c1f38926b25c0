package inspect_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// update makes the test write the pictures of the documentation again.
var update = flag.Bool("update", false, "make the pictures of docs/operating anew")

// TestScreenshots makes the pictures of the documentation with -update, and otherwise looks
// whether they are there, and no larger than they may be.
func TestScreenshots(t *testing.T) {
	var browser chromium
	if *update {
		browser = findChromium(t)
	}
	folder := filepath.Join("..", "..", "docs", "operating")
	pages := http.NewServeMux()
	serve := func(path, page string) {
		pages.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(page))
		})
	}
	serve("/all/{$}", inspect.PageOf(madeUp(), "", ""))
	serve("/key/{$}", inspect.KeyPageOf("shop-controller", "shop/order-0815", madeUpKey()))
	serve("/part/{$}", partOpened())
	pages.HandleFunc("/", http.NotFound)
	server := httptest.NewServer(pages)
	defer server.Close()
	for _, picture := range []struct {
		file, page    string
		width, height int
		dark          bool
	}{
		{"inspector-1440-light.png", "/all/", 1440, 1250, false},
		{"inspector-1440-dark.png", "/all/", 1440, 1250, true},
		{"inspector-360-light.png", "/all/", 360, 1500, false},
		{"inspector-360-dark.png", "/all/", 360, 1500, true},
		{"inspector-part-1440-light.png", "/part/", 1440, 1240, false},
		{"inspector-key-1440-light.png", "/key/", 1440, 1100, false},
		{"inspector-key-360-dark.png", "/key/", 360, 1500, true},
	} {
		path, err := filepath.Abs(filepath.Join(folder, picture.file))
		require.NoError(t, err)
		if *update {
			require.NoError(t, os.MkdirAll(folder, 0o755))
			args := []string{"--screenshot=" + path, fmt.Sprintf("--window-size=%d,%d", picture.width, picture.height), "--virtual-time-budget=2000"}
			if picture.dark {
				args = append(args, "--blink-settings=preferredColorScheme=0")
			}
			browser.run(t, append(args, server.URL+picture.page)...)
			shrink(t, path)
		}
		info, err := os.Stat(path)
		if assert.NoError(t, err, "go test ./typed/inspect -run Screenshots -update makes it") {
			assert.Less(t, info.Size(), int64(150_000), picture.file)
		}
	}
}

// partOpened returns a page of one informer whose numbers are unfolded.
func partOpened() string {
	r := madeUp()
	*r = snapshot.Report{Title: r.Title, Time: r.Time, Informers: slices.DeleteFunc(r.Informers, func(of snapshot.Informer) bool { return of.Resource != "pods" }), Problems: r.Problems}
	r.Problems = slices.DeleteFunc(r.Problems, func(p snapshot.Problem) bool { return p.Part != "informer-pods" })
	r.Totals = inspect.TotalsOf(r)
	return strings.Replace(inspect.PageOf(r, "", ""), `<details class="row"`, `<details open class="row"`, 1)
}

// shrink reduces a picture to its 256 most frequent colours.
func shrink(t *testing.T, path string) {
	file, err := os.Open(path)
	require.NoError(t, err)
	picture, err := png.Decode(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	count := map[color.Color]int{}
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[picture.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) })
	small := image.NewPaletted(bounds, colours[:min(256, len(colours))])
	nearest := map[color.Color]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := picture.At(x, y)
			index, known := nearest[c]
			if !known {
				index = uint8(small.Palette.Index(c))
				nearest[c] = index
			}
			small.SetColorIndex(x, y, index)
		}
	}
	var b bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small))
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
}

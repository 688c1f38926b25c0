package inspect_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// TestMounted serves the page below paths, with their prefix and without.
func TestMounted(t *testing.T) {
	inspector := newInspector(t, inspect.WithTitle("mounted"))
	mux := http.NewServeMux()
	mux.Handle("/debug/informers/", inspector)
	mux.Handle("/stripped/", http.StripPrefix("/stripped", inspector))
	mux.Handle("/exact", http.StripPrefix("/exact", inspector))
	mux.Handle("/{$}", inspector)
	for _, at := range []string{"/debug/informers/", "/stripped/", "/exact", "/"} {
		text := page(t, mux, at)
		assert.Contains(t, text, "<h1>mounted</h1>", at)
		for _, link := range linksOf(t, text) {
			assert.Regexp(t, `^[?#]`, link, "a link that holds wherever the page is")
		}
		assert.Equal(t, "mounted", decoded[snapshot.Report](t, mux, at+"?format=json").Title)
		assert.Contains(t, page(t, mux, at+"?key=a/b"), `<h2 class="keyname">a/b</h2>`)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/debug/informers/events", nil))
	assert.Equal(t, "text/event-stream", w.Header().Get("Content-Type"))
	w = httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/stripped/events", nil))
	assert.Equal(t, "text/event-stream", w.Header().Get("Content-Type"))
}

// linksOf returns the targets of a page's links, and the resources that it loads.
func linksOf(t *testing.T, text string) (links []string) {
	t.Helper()
	for node := range parsed(t, text).Descendants() {
		for _, attr := range node.Attr {
			if node.Data == "link" && attr.Key == "href" && attr.Val == "data:," {
				continue // no icon
			}
			switch attr.Key {
			case "href", "src", "action", "formaction", "data", "srcset", "poster", "xlink:href", "style", "xmlns":
				links = append(links, attr.Val)
			}
			assert.False(t, strings.HasPrefix(attr.Key, "on"), "an attribute %s, which is a script", attr.Key)
		}
	}
	require.NotEmpty(t, links)
	return links
}

// parsed returns the tree of a page.
func parsed(t *testing.T, text string) *html.Node {
	t.Helper()
	tree, err := html.Parse(strings.NewReader(text))
	require.NoError(t, err)
	return tree
}

// TestMethods has only GET and HEAD answered.
func TestMethods(t *testing.T) {
	inspector := newInspector(t)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "PROPFIND"} {
		w := httptest.NewRecorder()
		inspector.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		assert.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
		assert.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
	}
	for _, target := range []string{"/", "/?format=json", "/?key=a"} {
		w := httptest.NewRecorder()
		inspector.ServeHTTP(w, httptest.NewRequest(http.MethodHead, target, nil))
		assert.Equal(t, http.StatusOK, w.Code)
		assert.Empty(t, w.Body.String())
		assert.NotEqual(t, "0", w.Header().Get("Content-Length"))
	}
}

// TestFormats asks for JSON and HTML in all ways there are.
func TestFormats(t *testing.T) {
	inspector := newInspector(t)
	for _, test := range []struct{ target, accept, want string }{
		{"/", "", "text/html; charset=utf-8"},
		{"/", "*/*", "text/html; charset=utf-8"},
		{"/", "application/json", "application/json"},
		{"/", "text/html,application/xhtml+xml,application/json;q=0.9", "text/html; charset=utf-8"},
		{"/?format=html", "application/json", "text/html; charset=utf-8"},
		{"/?format=json", "text/html", "application/json"},
		{"/?key=a/b", "application/json", "application/json"},
		{"/?key=a/b&format=json", "", "application/json"},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, test.target, nil)
		r.Header.Set("Accept", test.accept)
		inspector.ServeHTTP(w, r)
		assert.Equal(t, http.StatusOK, w.Code)
		assert.Equal(t, test.want, w.Header().Get("Content-Type"), "%+v", test)
	}
	assert.Equal(t, http.StatusBadRequest, get(t, inspector, "/?format=xml").Code)
	assert.Equal(t, http.StatusBadRequest, get(t, inspector, "/?key=shop/").Code)
	assert.NotContains(t, get(t, inspector, "/?key=%3Cscript%3E/").Header().Get("Content-Type"), "html")
}

// TestHeaders: the headers of every answer forbid guessing its type, and limit what a page loads.
func TestHeaders(t *testing.T) {
	inspector := newInspector(t)
	for _, target := range []string{"/", "/?format=json", "/?key=a", "/?key=a/", "/?format=x"} {
		header := get(t, inspector, target).Header()
		assert.Equal(t, "nosniff", header.Get("X-Content-Type-Options"), target)
		assert.Equal(t, "no-store", header.Get("Cache-Control"))
		assert.Equal(t, "no-referrer", header.Get("Referrer-Policy"))
		assert.Equal(t, inspect.Policy, header.Get("Content-Security-Policy"))
	}
	assert.Contains(t, inspect.Policy, "default-src 'none'")
	assert.NotContains(t, inspect.Policy, "unsafe")
}

// TestNothingExternal looks for addresses in all that is served.
func TestNothingExternal(t *testing.T) {
	for _, text := range []string{inspect.PageOf(madeUp(), "", ""), inspect.KeyPageOf("x", "shop/order-0815", madeUpKey())} {
		for _, link := range linksOf(t, text) {
			assert.Regexp(t, `^[?#]`, link)
		}
		assert.Empty(t, regexp.MustCompile(`(?i:https?:|@import|//[a-z0-9-]+\.[a-z]{2,})|url\(`).FindAllString(text, -1))
	}
}

// TestEscaping fills every field that holds others' text with markup.
func TestEscaping(t *testing.T) {
	const evil = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`
	r := madeUp()
	fillStrings(r, evil)
	k := madeUpKey()
	fillStrings(k, evil)
	for _, text := range []string{inspect.PageOf(r, evil, evil), inspect.KeyPageOf(evil, evil, k)} {
		assert.NotContains(t, text, "<script>alert")
		scripts := 0
		for node := range parsed(t, text).Descendants() {
			assert.NotEqual(t, "img", node.Data)
			if node.Type == html.ElementNode && node.Data == "script" {
				scripts++
			}
			for _, attr := range node.Attr {
				assert.NotEqual(t, "onerror", attr.Key)
			}
		}
		assert.LessOrEqual(t, scripts, 1, "the page's own")
	}

	inspector := newInspector(t, inspect.WithTitle(evil), inspect.WithInformers(typed.NewInformer(rig.NewScript(), typed.WithName(evil))))
	for _, target := range []string{"/", "/?q=%3Cscript%3Ealert(1)", "/?key=%3Cscript%3Ealert(1)", "/?sort=%3Cscript%3Ealert(1)"} {
		assert.NotContains(t, page(t, inspector, target), "<script>alert")
	}
}

// TestFilterAndSort: the server filters and sorts as the script does, for browsers without scripts.
func TestFilterAndSort(t *testing.T) {
	of := func(query, order string) (shown []string) {
		for node := range parsed(t, inspect.PageOf(madeUp(), query, order)).Descendants() {
			class, id, hidden := "", "", false
			for _, attr := range node.Attr {
				switch attr.Key {
				case "class":
					class = attr.Val
				case "id":
					id = attr.Val
				case "hidden":
					hidden = true
				}
			}
			if class == "row" && !hidden {
				shown = append(shown, strings.TrimPrefix(id, "informer-"))
			}
		}
		return shown
	}
	assert.Equal(t, []string{"configmaps", "pods", "deployments", "orders", "nodes", "secrets"}, of("", ""), "the heap")
	assert.Equal(t, []string{"configmaps", "deployments", "nodes", "orders", "pods", "secrets"}, of("", "name"))
	assert.Equal(t, []string{"pods", "orders", "configmaps", "deployments", "nodes", "secrets"}, of("", "objects"))
	assert.Equal(t, []string{"pods", "configmaps", "deployments", "orders", "nodes", "secrets"}, of("", "backlog"))
	assert.Equal(t, "pods", of("", "time")[0])
	assert.Equal(t, "pods", of("", "event")[0])
	assert.Equal(t, []string{"secrets", "configmaps", "pods"}, of("", "state")[:3])
	assert.Equal(t, []string{"configmaps"}, of("STUCK", ""))
	assert.Equal(t, []string{"pods"}, of("labels  SHOP", ""))
	assert.Equal(t, []string{"deployments"}, of("apps/v1", ""))
	assert.Equal(t, []string{"secrets"}, of("forbidden", "name"))
	assert.Empty(t, of("nothing", ""))
	assert.Contains(t, inspect.PageOf(madeUp(), "stuck", ""), "1 of 6")
	assert.Contains(t, inspect.PageOf(madeUp(), "a&b", "name"), `href="?q=a%26b&amp;sort=state"`)
}

// TestOptions: New rejects all unusable options at once.
func TestOptions(t *testing.T) {
	var nobody *typed.Informer[*rig.Thing]
	var noFactory *typed.Factory
	for name, opt := range map[string]inspect.Option{
		"nil": nil, "informer": inspect.WithInformers(nobody), "nil informer": inspect.WithInformers(nil), "factory": inspect.WithFactories(noFactory),
		"queue": inspect.WithQueue((*queue.WorkQueue[index.Key])(nil)), "expectations": inspect.WithExpectations("e", nil),
		"group": inspect.WithGroup(nil), "fleet": inspect.WithFleet("f", nil), "writes": inspect.WithWrites(nil), "sharing": inspect.WithDeduplication(nil),
		"title": inspect.WithTitle(""), "interval": inspect.WithInterval(0), "listeners": inspect.WithMaxListeners(0),
		"wrapped": inspect.WithInformers(uncomparable{nobody, nil}),
	} {
		_, err := inspect.New(opt)
		require.ErrorContains(t, err, "inspector: ", name)
	}
	inspector := newInspector(t, inspect.WithTitle("before"))
	require.Error(t, inspector.Add(inspect.WithTitle("after"), nil))
	assert.Equal(t, "before", inspector.Report(t.Context()).Title, "nothing was changed")
	a, b := typed.NewInformer(rig.NewScript(), typed.WithName("a")), typed.NewInformer(rig.NewScript(), typed.WithName("b"))
	require.NoError(t, inspector.Add(inspect.WithInformers(a, b, a)))
	require.NoError(t, inspector.Add(inspect.WithInformers(b)))
	assert.Len(t, inspector.Informers(), 2, "each once")
}

// uncomparable is an informer that cannot be compared with others.
type uncomparable struct {
	typed.AnyInformer
	_ []int
}

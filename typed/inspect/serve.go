package inspect

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/kubetyped/informer/internal/goroutine"
)

// ServeHTTP answers requests, see the package's documentation. It answers 405 to methods other
// than GET and HEAD, 403 to requests for foreign hosts (see WithHosts) and of foreign pages,
// 400 to an invalid key or format, and 503 to listeners when there are too many.
//
// A part that panics, such as a fleet that is not this project's, is reported to
// utilruntime.PanicHandlers, and the answer is 500: a page never ends the program.
func (i *Inspector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			goroutine.Report(r.Context(), p)
			http.Error(w, "a part of the page has panicked, see the log", http.StatusInternalServerError)
		}
	}()
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Content-Security-Policy", policy)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "use GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	parts := i.settings()
	query := r.URL.Query()
	asJSON, known := wantsJSON(r)
	streams := query.Has("events") || r.URL.Path == "events" || strings.HasSuffix(r.URL.Path, "/events")
	if err := parts.check(r, streams); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	switch {
	case !known:
		http.Error(w, "format is html or json", http.StatusBadRequest)
	case streams:
		i.stream(w, r, &parts, query.Get("events") == "page")
	case query.Get("key") != "":
		serveKey(w, r, &parts, query.Get("key"), asJSON)
	case asJSON:
		writeJSON(w, r, i.report(r.Context(), &parts))
	default:
		report := i.report(r.Context(), &parts)
		writePage(w, r, newPage(&report, query.Get("q"), query.Get("sort")))
	}
}

// serveKey answers what is known of a key.
func serveKey(w http.ResponseWriter, r *http.Request, parts *settings, text string, asJSON bool) {
	key, err := parseKey(text)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	known := explain(parts, key)
	if asJSON {
		writeJSON(w, r, known)
		return
	}
	writePage(w, r, newKeyPage(parts.title, key.String(), &known))
}

// wantsJSON reports whether a request asks for JSON, by its format or what it accepts, and
// whether the format is known.
func wantsJSON(r *http.Request) (asJSON, known bool) {
	switch r.URL.Query().Get("format") {
	case "json":
		return true, true
	case "html":
		return false, true
	case "":
		accept := strings.Join(r.Header.Values("Accept"), ",")
		return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html"), true
	default:
		return false, false
	}
}

// writeJSON answers with JSON.
func writeJSON(w http.ResponseWriter, r *http.Request, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, r, "application/json", append(text, '\n'))
}

// writePage answers with a page.
func writePage(w http.ResponseWriter, r *http.Request, page *pageView) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page", page); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, r, "text/html; charset=utf-8", b.Bytes())
}

// write answers with a text, or only its header to HEAD.
func write(w http.ResponseWriter, r *http.Request, sort string, text []byte) {
	w.Header().Set("Content-Type", sort)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.Header().Add("Vary", "Accept")
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // the client is gone if that fails
	}
}

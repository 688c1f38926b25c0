package inspect_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect"
)

//go:embed testdata/wrapper.html
var wrapper string

// frame is a page to open, in a frame of some width.
type frame struct {
	Address string
	Width   int
}

func (f frame) String() string { return fmt.Sprint(strings.Trim(f.Address, "/"), f.Width) }

// open opens pages of a handler, and returns the findings about each by name.
func (c chromium) open(t *testing.T, pages http.Handler, live bool, frames ...frame) []map[string]string {
	t.Helper()
	done := make(chan struct{})
	var once sync.Once
	end := func() { once.Do(func() { close(done) }) }
	list, err := json.Marshal(frames)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	mux.HandleFunc("/wrapper", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = strings.NewReplacer("FRAMES", string(list), "LIVE", fmt.Sprint(live)).WriteString(w, wrapper)
	})
	mux.HandleFunc("/done", func(http.ResponseWriter, *http.Request) { end() })
	mux.HandleFunc("/wait", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-done:
		case <-r.Context().Done():
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	defer server.CloseClientConnections()
	defer end()
	text := c.run(t, "--window-size=1500,1000", "--dump-dom", server.URL+"/wrapper")
	noted := make([]map[string]string, len(frames))
	for node := range parsed(t, text).Descendants() {
		if node.Data != "body" {
			continue
		}
		for _, attr := range node.Attr {
			number, name, _ := strings.Cut(strings.TrimPrefix(attr.Key, "data-"), "-")
			if at, err := strconv.Atoi(number); err == nil {
				if noted[at] == nil {
					noted[at] = map[string]string{}
				}
				noted[at][name] = attr.Val
			}
		}
	}
	for at, of := range noted {
		require.NotEmpty(t, of, "%v: %s", frames[at], text)
		assert.Empty(t, of["error"], frames[at])
	}
	return noted
}

// madeUpPages serves made-up pages with the policy that real ones have.
func madeUpPages() http.Handler {
	mux := http.NewServeMux()
	serve := func(path, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy", inspect.Policy)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(text))
		})
	}
	serve("/all/{$}", inspect.PageOf(madeUp(), "", ""))
	serve("/key/{$}", inspect.KeyPageOf("shop-controller", "shop/order-0815", madeUpKey()))
	long := strings.Repeat("aNameThatIsMuchLongerThanAPhoneIsWide", 4)
	r, k := madeUp(), madeUpKey()
	fillStrings(r, long)
	fillStrings(k, long)
	serve("/long/{$}", inspect.PageOf(r, "", ""))
	serve("/longkey/{$}", inspect.KeyPageOf(long, long, k))
	return mux
}

// TestPagesFitScreens opens pages, folded and unfolded, on screens of all widths, and finds no
// element wider than the screen.
func TestPagesFitScreens(t *testing.T) {
	browser := findChromium(t)
	var frames []frame
	for _, address := range []string{"/all/", "/key/", "/long/", "/longkey/"} {
		for _, width := range []int{360, 900, 1440} {
			frames = append(frames, frame{address, width})
		}
	}
	for at, noted := range browser.open(t, madeUpPages(), false, frames...) {
		assert.Equal(t, "1320px", noted["styled"], "%v: the policy lets the style apply", frames[at])
		assert.Equal(t, "0 ", noted["folded"], "%v: wider than the screen", frames[at])
		assert.Equal(t, "0 ", noted["unfolded"], "%v: wider than the screen", frames[at])
	}
}

// TestCrowdFitsScreens opens the page of 200 informers with 100,000 objects, one of which has
// a handler that is stuck.
func TestCrowdFitsScreens(t *testing.T) {
	browser := findChromium(t)
	inspector := newInspector(t, inspect.WithInformers(crowd(t)...))
	require.Eventually(t, func() bool {
		problems := inspector.Report(t.Context()).Problems
		return len(problems) > 0 && problems[0].Reason == "HandlerStuck"
	}, time.Minute, 100*time.Millisecond)
	frames := []frame{{"/", 360}, {"/", 1440}}
	for at, noted := range browser.open(t, inspector, false, frames...) {
		assert.Equal(t, "0 ", noted["folded"], "%v: wider than the screen", frames[at])
		assert.Equal(t, "0 ", noted["unfolded"], "%v: wider than the screen", frames[at])
	}
}

// TestPageIsLive opens a page that has no informers yet, adds some that change, filters it and
// follows a link.
func TestPageIsLive(t *testing.T) {
	browser := findChromium(t)
	busy, idle := rig.New(t, typed.WithName("busy")), rig.New(t, typed.WithName("idle"))
	for _, r := range []*rig.Rig{busy, idle} {
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
	}
	busy.Sink.Report(fmt.Errorf("no route to host"))
	inspector := newInspector(t, inspect.WithInterval(200*time.Millisecond))
	stop := make(chan struct{})
	var changing sync.WaitGroup
	defer changing.Wait()
	defer close(stop)
	changing.Go(func() {
		for n := 2; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
				sinktest.Put(idle.Sink, rig.At("a", n), fmt.Sprint(n))
			}
		}
	})
	mux := http.NewServeMux()
	mux.Handle("/debug/informers/", inspector)
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, inspector.AddUntil(ctx, inspect.WithFleet("clusters", fixedFleet{})))
	mux.HandleFunc("/first", func(http.ResponseWriter, *http.Request) {
		assert.NoError(t, inspector.Add(inspect.WithInformers(busy.Informer, idle.Informer)))
	})
	mux.HandleFunc("/change", func(http.ResponseWriter, *http.Request) {
		cancel()
		assert.NoError(t, inspector.Add(inspect.WithGroup(fixedGroup{})))
	})
	noted := browser.open(t, mux, true, frame{"/debug/informers/", 1440})[0]
	assert.Equal(t, "ready", noted["script"], "it has run to its end")
	assert.Equal(t, "1 0", noted["empty"]+" "+noted["stillempty"], "the page says that it has no informers until it has")
	assert.Equal(t, "true", noted["live"], "updates come")
	assert.Regexp(t, `^Live, \d\d:\d\d:\d\d UTC$`, noted["clock"])
	assert.Equal(t, "SUMMARY", noted["focus"])
	assert.Equal(t, "1 of 2: 1 of 2", noted["filtered"])
	assert.Equal(t, "true", noted["revealed"], "a link to a part unfolds it")
	assert.Equal(t, "true", noted["stillrevealed"], "it stays so when it is updated")
	assert.Equal(t, "1", noted["stillfiltered"])
	assert.Equal(t, "SUMMARY", noted["stillfocused"])
	assert.Equal(t, "fleets 1", noted["sections"])
	assert.Equal(t, "groups 1", noted["changedsections"], "parts that come and go are shown, and are not")
	assert.Equal(t, "Paused Go on", noted["paused"])
}

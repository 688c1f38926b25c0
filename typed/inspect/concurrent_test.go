package inspect_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/observe"
)

// TestConcurrentUse has many ask, listen and add while informers change.
func TestConcurrentUse(t *testing.T) {
	r := rig.New(t, typed.WithName("things"), observe.WithCallTimes(), observe.WithHistory(50))
	r.Record()
	r.Start()
	sinktest.Replace(r.Sink, "", nil, "1")
	inspector := newInspector(t, inspect.WithInformers(r.Informer), inspect.WithQueue(queueOf(t, rig.Key("1"))), inspect.WithInterval(100*time.Millisecond), inspect.WithMaxListeners(4))
	server := httptest.NewServer(inspector)
	defer server.Close()
	stop := make(chan struct{})
	var busy, asking sync.WaitGroup
	busy.Go(func() {
		for n := 2; ; n++ {
			select {
			case <-stop:
				return
			default:
				sinktest.Put(r.Sink, rig.At(strconv.Itoa(n%100), n), strconv.Itoa(n))
			}
			time.Sleep(10 * time.Microsecond)
		}
	})
	for n := range 4 {
		for _, target := range []string{"/", "/?format=json", "/?key=ns/1", "/?format=json&key=ns/7"} {
			asking.Go(func() {
				for range 10 {
					assert.Equal(t, http.StatusOK, get(t, inspector, target).Code)
				}
			})
		}
		asking.Go(func() {
			answer, err := server.Client().Get(server.URL + "/?events=page")
			if assert.NoError(t, err) {
				_, err = answer.Body.Read(make([]byte, 4096))
				assert.NoError(t, err)
				answer.Body.Close()
			}
		})
		asking.Go(func() {
			assert.NoError(t, inspector.Add(inspect.WithInformers(typed.NewInformer(rig.NewScript(), typed.WithName(fmt.Sprint("added ", n))))))
		})
	}
	asking.Wait()
	close(stop)
	busy.Wait()
	require.Len(t, inspector.Report(t.Context()).Informers, 5)
}

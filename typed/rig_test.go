package typed_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// errorHandler, if not nil, is called with what is reported to
// utilruntime.HandleError.
var errorHandler atomic.Pointer[utilruntime.ErrorHandler]

// TestMain sets what is global, once and for all: goroutines of client-go that
// nobody waits for may still look at it when the next test runs. Failures are
// reported on purpose here. The handlers of apimachinery would log them, and wait
// in between by a clock that bubbles do not share.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(ctx context.Context, err error, msg string, keysAndValues ...any) {
		if handle := errorHandler.Load(); handle != nil {
			(*handle)(ctx, err, msg, keysAndValues...)
		}
	}}
	klog.SetLogger(klog.New(nil))
	goleak.VerifyTestMain(m)
}

// thing is what the tests keep: as little as an object can be.
type thing struct {
	namespace, name, node string
	uid                   types.UID
	version               int
	deleted               *metav1.Time
}

func (o *thing) GetNamespace() string       { return o.namespace }
func (o *thing) GetName() string            { return o.name }
func (o *thing) GetUID() types.UID          { return o.uid }
func (o *thing) GetResourceVersion() string { return strconv.Itoa(o.version) }
func (o *thing) String() string             { return fmt.Sprintf("%s@%d", o.name, o.version) }

func (o *thing) GetLabels() map[string]string { return nil }

func (o *thing) GetDeletionTimestamp() *metav1.Time { return o.deleted }

// at returns a thing of the given name and version.
func at(name string, version int) *thing {
	return &thing{namespace: "ns", name: name, uid: types.UID(name), version: version, node: fmt.Sprint("node-", version%3)}
}

func key(name string) index.Key { return index.Key{Namespace: "ns", Name: name} }

// script is a source whose reports the test makes itself.
type script struct {
	started chan typed.Sink[*thing]
	fail    chan error
}

func newScript() *script {
	return &script{started: make(chan typed.Sink[*thing], 1), fail: make(chan error)}
}

func (s *script) Run(ctx context.Context, sink typed.Sink[*thing]) error {
	s.started <- sink
	select {
	case err := <-s.fail:
		return err
	case <-ctx.Done():
		return nil
	}
}

// rig is an informer over a script. Its sink is there once it runs.
type rig struct {
	*typed.Informer[*thing]
	t      *testing.T
	script *script
	sink   typed.Sink[*thing]
	stop   context.CancelFunc
	ended  chan error
}

func newRig(t *testing.T, opts ...typed.Option) *rig {
	s := newScript()
	return &rig{t: t, Informer: typed.NewInformer[*thing](s, opts...), script: s, ended: make(chan error, 1)}
}

// run starts the informer, and stops it when the test ends.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() { r.ended <- r.Run(ctx) }()
	r.sink = <-r.script.started
	r.t.Cleanup(func() {
		cancel()
		<-r.ended
		r.ended <- nil
	})
}

// handle adds a recorder.
func (r *rig) handle(opts ...typed.HandlerOption) *recorder {
	rec := &recorder{}
	reg, err := r.Handle(rec, opts...)
	require.NoError(r.t, err)
	rec.Registration = reg
	return rec
}

// inBubble runs a test in a bubble of its own: time stands still unless all
// goroutines wait, and synctest.Wait returns when nothing more can happen.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// recorder is a handler that writes down its calls.
type recorder struct {
	*typed.Registration

	mu    sync.Mutex
	calls []string
	hook  func(call string)
}

// before makes the handler call hook before it writes a call down; it may
// block.
func (r *recorder) before(hook func(call string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hook = hook
}

func (r *recorder) record(call string) {
	r.mu.Lock()
	hook := r.hook
	r.mu.Unlock()
	if hook != nil {
		hook(call)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

func (r *recorder) OnAdd(obj *thing, initial bool) {
	if initial {
		r.record(fmt.Sprint("initial ", obj))
	} else {
		r.record(fmt.Sprint("add ", obj))
	}
}

func (r *recorder) OnUpdate(old, updated *thing) {
	if old == updated {
		r.record(fmt.Sprint("resync ", updated))
	} else {
		r.record(fmt.Sprint("update ", old, " ", updated))
	}
}

func (r *recorder) OnDelete(d typed.Deleted[*thing]) {
	r.record(fmt.Sprint("delete ", d.Object, " ", d.Reason))
}

// all returns the calls so far.
func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.calls...)
}

// next returns the calls since the last time, after everything has come to
// rest.
func (r *recorder) next() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// complaints are what assertions report, to be looked at later. They are for
// model tests in bubbles: a failure that ends the goroutine would leave the
// bubble with those that go on.
type complaints struct {
	mu   sync.Mutex
	list []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, fmt.Sprintf(format, args...))
}

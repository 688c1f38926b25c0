package inspect_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/inspect"
)

// TestAddUntil shows parts until a context ends, and longer if they were also added otherwise.
func TestAddUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stays, goes := typed.NewInformer(rig.NewScript(), typed.WithName("stays")), typed.NewInformer(rig.NewScript(), typed.WithName("goes"))
		q, err := queue.NewWorkQueue[index.Key](queue.WithName("q"))
		require.NoError(t, err)
		defer q.ShutDown()
		writes, err := control.NewExpectations(q)
		require.NoError(t, err)
		inspector := newInspector(t, inspect.WithInformers(stays))
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, inspector.AddUntil(ctx, inspect.WithInformers(goes, stays), inspect.WithQueue(q), inspect.WithExpectations("writes", writes),
			inspect.WithFactories(factoryOf{goes}), inspect.WithTitle("set")))
		r := reportOf(t, inspector)
		assert.Len(t, r.Informers, 2)
		assert.Len(t, r.Queues, 1)
		assert.Len(t, r.Expectations, 1)

		cancel()
		synctest.Wait()
		r = reportOf(t, inspector)
		require.Len(t, r.Informers, 1)
		assert.Equal(t, "stays", r.Informers[0].Name)
		assert.Empty(t, r.Queues)
		assert.Empty(t, r.Expectations)
		assert.Equal(t, "set", r.Title, "it is no part")

		require.NoError(t, inspector.AddUntil(ctx, inspect.WithQueue(q)))
		synctest.Wait()
		assert.Empty(t, inspector.Queues(), "the context has ended")
		require.ErrorContains(t, inspector.AddUntil(t.Context(), inspect.WithQueue(q), nil), "option is nil")
		var none context.Context
		require.ErrorContains(t, inspector.AddUntil(none, inspect.WithQueue(q)), "the context is nil")
		assert.Empty(t, inspector.Queues(), "nothing was added")
	})
}

// factoryOf is a Factory.
type factoryOf []typed.AnyInformer

func (f factoryOf) Informers() []typed.AnyInformer { return f }

// TestFactoryOfNothing: informers of a factory that are nil are left out.
func TestFactoryOfNothing(t *testing.T) {
	inspector := newInspector(t)
	factory := factoryOf{nil, (*typed.Informer[*rig.Thing])(nil), typed.NewInformer(rig.NewScript())}
	require.NoError(t, inspector.AddUntil(t.Context(), inspect.WithFactories(factory)))
	assert.Len(t, reportOf(t, inspector).Informers, 1)
}

// TestAddUntilLetsGo: the memory of an informer that was shown and weighed is freed.
func TestAddUntilLetsGo(t *testing.T) {
	inspector := newInspector(t)
	ctx, cancel := context.WithCancel(t.Context())
	shown := func() weak.Pointer[typed.Informer[*rig.Thing]] {
		informer := typed.NewInformer(rig.NewScript())
		require.NoError(t, inspector.AddUntil(ctx, inspect.WithInformers(informer)))
		assert.Len(t, reportOf(t, inspector).Informers, 1)
		return weak.Make(informer)
	}()
	runtime.GC()
	assert.NotNil(t, shown.Value(), "it is shown")
	cancel()
	assert.Eventually(t, func() bool { runtime.GC(); return shown.Value() == nil }, time.Minute, time.Millisecond)
	runtime.KeepAlive(inspector)
}

// TestAddUntilLetsGoOfFactories: so is the memory of those of a factory, which has none by then.
func TestAddUntilLetsGoOfFactories(t *testing.T) {
	inspector := newInspector(t)
	ctx, cancel := context.WithCancel(t.Context())
	factory := factoryOf{typed.NewInformer(rig.NewScript())}
	require.NoError(t, inspector.AddUntil(ctx, inspect.WithFactories(&factory)))
	assert.Len(t, reportOf(t, inspector).Informers, 1)
	shown := weak.Make(factory[0].(*typed.Informer[*rig.Thing]))
	factory = nil
	cancel()
	assert.Eventually(t, func() bool { runtime.GC(); return shown.Value() == nil }, 10*time.Second, time.Millisecond)
	runtime.KeepAlive(inspector)
}

// TestFactoriesGiveUpInformers: the memory of an informer that a factory gives up is freed when
// there was no report for a minute.
func TestFactoriesGiveUpInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		factory := factoryOf{typed.NewInformer(rig.NewScript())}
		inspector := newInspector(t, inspect.WithFactories(&factory))
		for range 2 {
			assert.Len(t, reportOf(t, inspector).Informers, 1)
			time.Sleep(50 * time.Second)
		}
		shown := weak.Make(factory[0].(*typed.Informer[*rig.Thing]))
		factory = nil
		time.Sleep(11 * time.Second)
		synctest.Wait()
		runtime.GC()
		assert.True(t, shown.Value() == nil, "it is not kept")
		runtime.KeepAlive(inspector)
	})
}

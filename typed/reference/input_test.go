package reference_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

var nowhere = &rest.Config{Host: "http://127.0.0.1:1"}

func secretsWith(opts ...kube.SourceOption) *reference.Source[string, *corev1.Secret] {
	return reference.NewSource[string](func(k index.Key) source.Source[*corev1.Secret] {
		return kube.FromREST[*corev1.Secret](nowhere, append([]kube.SourceOption{kube.WithName(k)}, opts...)...)
	})
}

// TestInput: what cannot be held is an error at once, and nothing is held.
func TestInput(t *testing.T) {
	roles := reference.NewSource[string](func(k index.Key) source.Source[*corev1.Secret] {
		return source.Map(kube.FromREST[*rbacv1.ClusterRole](nowhere, kube.WithName(k)), func(*rbacv1.ClusterRole) *corev1.Secret { return nil })
	})
	whole := reference.NewSource[string](func(index.Key) source.Source[*corev1.Secret] {
		return kube.FromREST[*corev1.Secret](nowhere)
	})
	projected := reference.NewSource[string](func(index.Key) source.Source[*corev1.Secret] {
		return source.Map(kube.FromREST[*corev1.Secret](nowhere), func(s *corev1.Secret) *corev1.Secret { return s })
	})
	other := reference.NewSource[string](func(index.Key) source.Source[*corev1.Secret] {
		return kube.FromREST[*corev1.Secret](nowhere, kube.WithName(key("other")))
	})
	none := reference.NewSource[string](func(index.Key) source.Source[*corev1.Secret] { return nil })
	good := key("good")
	for name, c := range map[string]struct {
		of   *reference.Source[string, *corev1.Secret]
		key  index.Key
		want string
	}{
		"no name":                {secretsWith(), index.Key{Namespace: "shop"}, "object shop/: the key has no name"},
		"no namespace":           {secretsWith(), index.Key{Name: "a"}, "the key has no namespace: WithName names a, and secrets have one"},
		"a namespace too much":   {roles, index.Key{Namespace: "shop", Name: "a"}, "the objects have no namespace: WithName names shop/a, and clusterroles.v1.rbac.authorization.k8s.io have none"},
		"no path":                {secretsWith(), index.Key{Namespace: "shop", Name: "a/b"}, `"a/b" may not contain '/'`},
		"all objects":            {whole, good, "the source is not one of one object: use WithName"},
		"all, projected":         {projected, good, "the source is not one of one object: use WithName"},
		"another object":         {other, good, "the function that makes sources has returned one of the object shop/other"},
		"no source":              {none, good, "the function that makes sources has returned nil"},
		"labels":                 {secretsWith(kube.WithLabelSelector(labels.Everything())), good, "leave out WithLabelSelector and WithFieldSelector"},
		"fields":                 {secretsWith(kube.WithFieldSelector(fields.Everything())), good, "leave out WithLabelSelector and WithFieldSelector"},
		"another namespace":      {secretsWith(kube.WithNamespace("inn")), good, `WithName names shop/good, and WithNamespace "inn"`},
		"an option of no use":    {reference.NewSource[string](func(index.Key) source.Source[*corev1.Secret] { return nil }, reference.WithIdle(-1)), good, "WithIdle: the time is -1ns"},
		"another one":            {reference.NewSource[string](func(index.Key) source.Source[*corev1.Secret] { return nil }, reference.WithLimit(0)), good, "WithLimit: 0 names"},
		"an option that is nil":  {reference.NewSource[string](func(index.Key) source.Source[*corev1.Secret] { return nil }, nil), good, "option is nil"},
		"a function that is nil": {reference.NewSource[string, *corev1.Secret](nil), good, "NewSource: function is nil"},
	} {
		assert.ErrorContains(t, holdMore(c.of, c.key), c.want, name)
	}
}

// holdMore holds one more key, if it can.
func holdMore(s *reference.Source[string, *corev1.Secret], k index.Key) error {
	before := s.Status()
	err := s.Hold("o", k)
	if after := s.Status(); after.Held != before.Held {
		return errors.New("it is held")
	}
	return err
}

func TestLimit(t *testing.T) {
	s := reference.NewSource[string](func(k index.Key) source.Source[*rig.Thing] { return rig.NewScript() }, reference.WithLimit(2))
	require.NoError(t, s.Hold("a", rig.Key("x"), rig.Key("y")))
	err := s.Hold("b", rig.Key("z"), rig.Key("x"))
	require.ErrorIs(t, err, reference.ErrLimit)
	assert.ErrorContains(t, err, "2 are held and 0 idle, and the limit is 2; raise it by WithLimit")
	assert.Equal(t, 2, s.Status().Held)
	require.NoError(t, s.Hold("b", rig.Key("x")), "it is followed already")
	require.NoError(t, s.Hold("a"))
	assert.Equal(t, 1, s.Status().Held)
	require.NoError(t, s.Hold("b", rig.Key("z")))
	require.Error(t, s.Hold("c", rig.Key("z"), index.Key{Namespace: "ns"}))
	require.NoError(t, s.Hold("b"))
	assert.Zero(t, s.Status().Held, "an error holds nothing")
}

// TestGetFromCallbacks: what would wait for itself is an error.
func TestGetFromCallbacks(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		require.NoError(t, s.Create(t.Context(), secret("a", "1"), secret("b", "1")))
		errs := make(chan error, 100)
		get := func() {
			_, _, err := reference.Get(t.Context(), s.secrets, s.informer, key("b"))
			errs <- err
		}
		s.informer = typed.NewInformer(s.secrets, typed.WithTransform(func(o *corev1.Secret) (*corev1.Secret, error) {
			get()
			return o, nil
		}))
		require.NoError(t, s.informer.AddIndexes(index.Single("i", func(*corev1.Secret) (string, bool) {
			get()
			return "", false
		})))
		_, err := s.informer.Handle(typed.HandlerFuncs[*corev1.Secret]{AddFunc: func(*corev1.Secret, bool) { get() }}, typed.WithDelivery(typed.Block(1)))
		require.NoError(t, err)
		require.NoError(t, s.secrets.Hold("o", key("a")))
		s.start()
		require.NoError(t, s.informer.WaitForSync(t.Context()))
		settle()
		require.Len(t, errs, 3, "one of each")
		for range 3 {
			require.ErrorIs(t, <-errs, reference.ErrCallback)
		}
		assert.Equal(t, 1, s.secrets.Status().Held, "nothing is held by that")
		assert.Zero(t, s.secrets.Status().Idle)

		require.NoError(t, s.secrets.Hold("o", key("a"), key("b")))
		settle()
		for len(errs) > 0 {
			<-errs
		}
		updated := secret("a", "2")
		require.NoError(t, s.Update(t.Context(), updated))
		settle()
		require.Len(t, errs, 2, "a transform and an index function")
		for range 2 {
			require.NoError(t, <-errs, "the state of b is known")
		}
	})
}

func TestGetOfAnotherInformer(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s := reference.NewSource[string](func(index.Key) source.Source[*rig.Thing] { return rig.NewScript() })
		informer := typed.NewInformer(s)
		another := typed.NewInformer[*rig.Thing](rig.NewScript())
		_, _, err := reference.Get(t.Context(), s, another, rig.Key("a"))
		assert.ErrorContains(t, err, "is not that of the source")
		_, _, err = reference.Get(t.Context(), s, nil, rig.Key("a"))
		assert.ErrorContains(t, err, "informer is nil")
		_, _, err = reference.Get[string](t.Context(), nil, informer, rig.Key("a"))
		assert.ErrorContains(t, err, "source is nil")
		ctx, cancel := contextWithTimeout(t, time.Second)
		defer cancel()
		_, _, err = reference.Get(ctx, s, informer, rig.Key("a"))
		require.ErrorIs(t, err, typed.ErrNotStarted)
		require.NoError(t, informer.Release())
		_, _, err = reference.Get(t.Context(), s, informer, rig.Key("a"))
		require.ErrorIs(t, err, index.ErrReleased)
	})
}

func TestOneInformerForASource(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s := reference.NewSource[string](func(index.Key) source.Source[*rig.Thing] { return rig.NewScript() })
		ctx, cancel := contextWithTimeout(t, time.Second)
		defer cancel()
		require.NoError(t, typed.NewInformer(s).Run(ctx))
		require.ErrorIs(t, typed.NewInformer(s).Run(t.Context()), typed.ErrStarted)
	})
}

package reference_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

func key(name string) index.Key { return index.Key{Namespace: "shop", Name: name} }

func secret(name, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, StringData: map[string]string{"v": value}, Type: corev1.SecretType(value)}
}

// server is an API server in memory with an informer of references.
type server struct {
	*apitest.Server
	*testing.T
	secrets  *reference.Source[string, *corev1.Secret]
	informer *typed.Informer[*corev1.Secret]
	ask      *rest.Config // which of the servers, nil: this one
	opts     []kube.SourceOption
	stop     context.CancelFunc
	done     chan error
}

func startServer(t *testing.T) *apitest.Server {
	return apitest.Start(t, apitest.WithNamespaceLifecycle(), apitest.WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}))
}

// serve runs the test in a bubble, in virtual time.
func serve(t *testing.T, test func(t *testing.T, s *server), opts ...reference.Option) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{Server: startServer(t), T: t}
		s.secrets = reference.NewSource[string](func(k index.Key) source.Source[*corev1.Secret] {
			return kube.FromREST[*corev1.Secret](s.config(), append([]kube.SourceOption{kube.WithName(k)}, s.opts...)...)
		}, opts...)
		s.informer = typed.NewInformer(s.secrets)
		test(t, s)
		if s.stop != nil {
			s.stop()
			require.NoError(t, <-s.done)
		}
	})
}

func (s *server) config() *rest.Config {
	if s.ask != nil {
		return s.ask
	}
	return s.Config()
}

func (s *server) start() {
	var ctx context.Context
	ctx, s.stop = context.WithCancel(s.Context())
	s.done = make(chan error, 1)
	go func() { s.done <- s.informer.Run(ctx) }()
}

// get is Get with a limit of a minute.
func (s *server) get(name string) (*corev1.Secret, bool, error) {
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	return reference.Get(ctx, s.secrets, s.informer, key(name))
}

func (s *server) forbid() *apitest.Injection {
	return s.Inject(apitest.Fault{Resource: "secrets", Err: apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("ask for more rights"))})
}

// settle waits for all that can happen within a second.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

func TestSourceFollowsHeldKeys(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		require.NoError(t, s.Create(t.Context(), secret("a", "1"), secret("b", "1")))
		require.NoError(t, s.secrets.Hold("o", key("a"), key("none")))
		s.start()
		require.NoError(t, s.informer.WaitForSync(t.Context()))
		assert.Equal(t, 1, s.informer.Len(), "b is not held")
		_, exists, err := s.get("none")
		require.NoError(t, err)
		assert.False(t, exists)
		got, exists, err := s.get("b")
		require.NoError(t, err)
		assert.True(t, exists)
		assert.Equal(t, "b", got.Name)
		assert.Equal(t, 3, s.Watches("secrets"))

		require.NoError(t, s.Create(t.Context(), secret("none", "1")))
		settle()
		_, exists, err = s.get("none")
		require.NoError(t, err)
		assert.True(t, exists, "it is watched")
		require.NoError(t, s.Delete(t.Context(), secret("none", "1")))
		settle()
		_, exists, err = s.get("none")
		require.NoError(t, err)
		assert.False(t, exists)
		assert.Equal(t, reference.Absent, s.secrets.State(key("none")).Phase)
		assert.NotEmpty(t, s.secrets.State(key("none")).Version)

		require.NoError(t, s.secrets.Hold("o"))
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		assert.Zero(t, s.Watches("secrets"))
		assert.Zero(t, s.informer.Len())
		assert.Equal(t, reference.Status{Limit: 1000}, s.secrets.Status())
	})
}

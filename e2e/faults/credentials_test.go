package faults

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/e2e/proxy"
)

// account is a service account that may list and watch the ConfigMaps of its
// namespace, or not.
type account struct {
	*testing.T

	ctx       context.Context
	client    kubernetes.Interface
	namespace string
	token     atomic.Pointer[string]
}

const accountName = "watcher"

func newAccount(ctx context.Context, t *testing.T, namespace string) *account {
	a := &account{T: t, ctx: ctx, client: kubernetes.NewForConfigOrDie(server.Config()), namespace: namespace}
	_, err := a.client.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: accountName},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	a.permit()
	a.exist()
	return a
}

// permit gives the account its rights.
func (a *account) permit() {
	_, err := a.client.RbacV1().RoleBindings(a.namespace).Create(a.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: accountName},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: accountName},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: accountName, Namespace: a.namespace}},
	}, metav1.CreateOptions{})
	require.NoError(a, err)
}

// forbid takes them away.
func (a *account) forbid() {
	require.NoError(a, a.client.RbacV1().RoleBindings(a.namespace).Delete(a.ctx, accountName, metav1.DeleteOptions{}))
}

// exist makes the account, with a token.
func (a *account) exist() {
	accounts := a.client.CoreV1().ServiceAccounts(a.namespace)
	_, err := accounts.Create(a.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: accountName}}, metav1.CreateOptions{})
	require.NoError(a, err)
	request, err := accounts.CreateToken(a.ctx, accountName, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(a, err)
	a.token.Store(&request.Status.Token)
}

// vanish deletes the account, which makes its token invalid.
func (a *account) vanish() {
	require.NoError(a, a.client.CoreV1().ServiceAccounts(a.namespace).Delete(a.ctx, accountName, metav1.DeleteOptions{}))
}

// config returns config with the credentials of the account, whatever they are
// when a request is made.
func (a *account) config(config *rest.Config) *rest.Config {
	config = rest.AnonymousClientConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set("Authorization", "Bearer "+*a.token.Load())
			return next.RoundTrip(r)
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestCredentials takes the informers' rights away (403) and their identity
// (401), and gives them back.
func TestCredentials(t *testing.T) {
	if config := server.Config(); len(config.CertData) > 0 || config.CertFile != "" {
		t.Skip("the proxy would show the client certificate for everybody, which no token can outdo")
	}
	for _, test := range []struct {
		name            string
		revoke, restore func(*account)
		is              func(error) bool
	}{
		{"rights revoked and restored (403)", (*account).forbid, (*account).permit, apierrors.IsForbidden},
		{"credentials revoked and restored (401)", (*account).vanish, (*account).exist, apierrors.IsUnauthorized},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, err := proxy.Start(server.Config())
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, p.Close()) })
			namespace := server.Namespace(t)
			s := newScene[*corev1.ConfigMap](t, newConfigMaps(namespace))
			a := newAccount(s.ctx, t, namespace)
			s.watch(a.config(p.Config()))

			test.revoke(a)
			// An open watch continues, and the server caches granted access for ten seconds.
			for told := 0; told < len(s.observers); {
				p.CutWatches("configmaps", proxy.Clean)
				s.writes(writeRate)
				told = 0
				for _, o := range s.observers {
					if test.is(o.informer.Status().Err) {
						told++
					}
				}
			}
			test.restore(a)
			s.finish(test.name, 1)
		})
	}
}

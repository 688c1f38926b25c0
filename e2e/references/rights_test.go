package references

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/reference"
)

// namesThree makes Ingresses 1 to 3 that name the Secrets 1 to 3 each.
func namesThree(t *testing.T, client kubernetes.Interface, namespace string) {
	deleteIngresses(t, client, namespace)
	for i := 1; i <= 3; i++ {
		_, err := client.NetworkingV1().Ingresses(namespace).Create(t.Context(), newIngress(i, secretName(i)), metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

func create(t *testing.T, client kubernetes.Interface, namespace string, i int) {
	t.Helper()
	_, err := client.CoreV1().Secrets(namespace).Create(t.Context(),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secretName(i)}}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func exists(s seen) bool  { return s.err == nil && s.exists }
func absent(s seen) bool  { return s.done && s.err == nil && !s.exists }
func refused(s seen) bool { return apierrors.IsForbidden(s.err) }

// TestRights: with rights by resourceNames alone, reconciles can distinguish Secrets that exist,
// that do not, and that are refused. The Ingress is reconciled when a right is given. When one is
// taken away, the last state stays, and missed changes come when it is given back.
func TestRights(t *testing.T) {
	cluster := server.Cluster(t)
	client, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	namespace := server.Namespace(t)
	create(t, client, namespace, 1)
	create(t, client, namespace, 3)
	namesThree(t, client, namespace)
	config := newAccount(t, client, namespace, "names", rights{[]string{"list", "watch"}, []string{secretName(1), secretName(2)}})
	p := runProgram(t, config)
	key := func(i int) index.Key { return index.Key{Namespace: namespace, Name: secretName(i)} }

	p.await(t, "ingress-01", "the Secret exists", exists)
	p.await(t, "ingress-02", "the Secret does not exist", absent)
	p.await(t, "ingress-03", "the Secret is refused", refused)
	require.Eventually(t, func() bool { return p.source.State(key(3)).Phase == reference.Refused }, enough, 10*time.Millisecond)
	create(t, client, namespace, 2)
	p.await(t, "ingress-02", "the Secret was created", exists)

	setNames(t, client, namespace, "names", secretName(1), secretName(2), secretName(3))
	p.await(t, "ingress-03", "the right was given", exists)

	// A watch outlives the right to it, so the server ends it.
	setNames(t, client, namespace, "names", secretName(2), secretName(3))
	require.NoError(t, cluster.Restart(t.Context()))
	require.Eventually(t, func() bool { return apierrors.IsForbidden(p.source.State(key(1)).Err) }, enough, 10*time.Millisecond)
	state := p.source.State(key(1))
	assert.Equal(t, reference.Present, state.Phase, "the last state stays")
	_, found, err := reference.Get(t.Context(), p.source, p.informer, key(1))
	assert.True(t, found)
	require.NoError(t, err)
	change(t, client, namespace, secretName(1))
	change(t, client, namespace, secretName(2))
	p.await(t, "ingress-02", "others go on", func(s seen) bool { return exists(s) && s.stamp != "" })
	assert.Empty(t, p.stampOf(key(1)))

	setNames(t, client, namespace, "names", secretName(1), secretName(2), secretName(3))
	p.await(t, "ingress-01", "the change that was missed", func(s seen) bool { return exists(s) && s.stamp != "" })
	require.Eventually(t, func() bool { return p.source.State(key(1)).Err == nil }, enough, 10*time.Millisecond)
	assert.Zero(t, p.traffic.Counts().Wide)
	if os.Getenv("E2E_KUBECONFIG") == "" {
		r := requestsOf(t, "names")
		assert.Zero(t, r.wide, "audited wide requests")
		assert.NotZero(t, r.forbidden, "audited requests without the right")
	}
}

// TestGetAlone: with the right to get alone, Get returns the server's error, which names the
// verb, within seconds.
func TestGetAlone(t *testing.T) {
	client, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	namespace := server.Namespace(t)
	create(t, client, namespace, 1)
	p := runProgram(t, newAccount(t, client, namespace, "gets", rights{[]string{"get"}, []string{secretName(1)}}))
	begin := time.Now()
	_, found, err := reference.Get(t.Context(), p.source, p.informer, index.Key{Namespace: namespace, Name: secretName(1)})
	assert.False(t, found)
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.Regexp(t, `cannot (list|watch) resource "secrets"`, err.Error())
	assert.Less(t, time.Since(begin), 30*time.Second)
}

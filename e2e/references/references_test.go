package references

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/e2e/target"
	"github.com/kubetyped/informer/e2e/workload"
	"github.com/kubetyped/informer/internal/test/report"
)

var (
	secrets     = flag.Int("secrets", 300, "number of Secrets")
	secretBytes = flag.Int("bytes", 20_000, "the size of each")
	changes     = flag.Int("changes", 10, "how many changes of Secrets are measured with each way")
	quiet       = flag.Duration("quiet", 3*time.Second, "for how long requests are counted while nothing changes")
	period      = flag.Duration("period", 5*time.Second, "how often the way without a cache reconciles")
	document    = flag.String("report", "", "page to write the table into")
)

const (
	ingresses    = 50
	named        = 80 // Secrets that they name
	changedStamp = "example.com/changed"
)

// ways are how the controller reads, and the rights that it needs for that.
var ways = []struct {
	name   string
	verbs  []string
	byName bool // named Secrets alone
}{
	{"client-go", []string{"list", "watch"}, false},
	{"controller-runtime", []string{"list", "watch"}, false},
	{"uncached", []string{"get"}, true},
	{"WithReferences", []string{"list", "watch"}, true},
	{"typed", []string{"list", "watch"}, true},
}

// measured is what a way has taken.
type measured struct {
	synced, end line
	perMinute   float64
	latency     time.Duration // median
	worst       time.Duration
}

// TestCost: by reference, a controller that may read 80 Secrets of many reads these, learns of
// their changes, requests no others, and has a part of the heap of a cache of all.
func TestCost(t *testing.T) {
	client, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	namespace := server.Namespace(t)
	fill(t, client, namespace)
	program := target.Build(t, "adapters/ctrlruntime", "./internal/referring")
	results := map[string]measured{}
	for _, way := range ways {
		r := rights{verbs: way.verbs}
		if way.byName {
			for i := range named {
				r.names = append(r.names, secretName(i))
			}
		}
		account := "reads-" + fmt.Sprint(len(results))
		c := startController(t, program, newAccount(t, client, namespace, account, r), way.name)
		results[way.name] = measure(t, client, namespace, c, way.name == "uncached")
		c.end(t)
		checkRequests(t, account, way.byName, results[way.name].end)
	}
	check(t, results)
	table := tableOf(results)
	t.Log(table)
	if *document != "" {
		require.NoError(t, report.Replace(*document, "e2e/references", table))
	}
}

// check compares the ways.
func check(t *testing.T, results map[string]measured) {
	all := results["client-go"]
	for _, way := range []string{"WithReferences", "typed"} {
		r := results[way]
		assert.Less(t, r.end.Bytes, all.end.Bytes, "%s: bytes", way)
		if *secrets > 10*named { // what a watch takes counts for less than the objects
			assert.Less(t, r.end.Heap, all.end.Heap, "%s: heap", way)
		}
		assert.Less(t, r.synced.Took, results["uncached"].synced.Took, "%s: time to sync at 5 requests a second", way)
		assert.LessOrEqual(t, r.perMinute, 60*float64(named+1)/quiet.Seconds(), "%s: requests of watches that end", way)
		assert.GreaterOrEqual(t, r.end.Watches, int64(named), way)
	}
}

// checkRequests compares what an account has requested with its rights.
func checkRequests(t *testing.T, account string, byName bool, end line) {
	if byName {
		assert.Zero(t, end.Wide, "wide requests of %s", account)
	} else {
		assert.NotZero(t, end.Wide, "the count of wide requests of %s", account)
	}
	if os.Getenv("E2E_KUBECONFIG") != "" {
		return // its audit log is elsewhere
	}
	r := requestsOf(t, account)
	assert.Zero(t, r.forbidden, "requests of %s", account)
	if byName {
		assert.Zero(t, r.wide, "audited wide requests of %s", account)
		assert.GreaterOrEqual(t, r.named, named, "audited requests of %s", account)
	} else {
		assert.NotZero(t, r.wide, "audited wide requests of %s", account)
	}
}

// measure waits until a controller has read all, changes Secrets, and measures what that takes.
func measure(t *testing.T, client kubernetes.Interface, namespace string, c *controller, polls bool) (m measured) {
	m.synced = c.next(t, "synced", 2*time.Minute)
	before := c.counts(t)
	time.Sleep(*quiet)
	m.perMinute = float64(c.counts(t).Requests-before.Requests) / quiet.Minutes()
	var took []time.Duration
	for i := range *changes {
		name := secretName(rand.IntN(named))
		if polls { // the changes are read together
			name = secretName(i % named)
		}
		change(t, client, namespace, name)
		if !polls {
			l := c.next(t, "changed", time.Minute)
			require.Equal(t, name, l.Secret)
			took = append(took, l.Took)
		}
	}
	if polls {
		for range min(*changes, named) {
			took = append(took, c.next(t, "changed", 2**period+time.Minute).Took)
		}
	}
	slices.Sort(took)
	m.latency, m.worst = took[len(took)/2], took[len(took)-1]
	m.end = c.counts(t)
	return m
}

// change changes a Secret.
func change(t *testing.T, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, changedStamp, strconv.FormatInt(time.Now().UnixNano(), 10))
	_, err := client.CoreV1().Secrets(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(t, err)
}

func secretName(i int) string { return fmt.Sprintf("secret-%04d", i) }

// fill makes Secrets, and Ingresses that name some.
func fill(t *testing.T, client kubernetes.Interface, namespace string) {
	crew := workload.Crew{Workers: 16, Out: t.Output()}
	require.NoError(t, crew.Each(t.Context(), "create", "Secrets", *secrets, func(ctx context.Context, i int) error {
		_, err := client.CoreV1().Secrets(namespace).Create(ctx, newSecret(i), metav1.CreateOptions{})
		return err
	}))
	deleteIngresses(t, client, namespace)
	require.NoError(t, crew.Each(t.Context(), "create", "Ingresses", ingresses, func(ctx context.Context, i int) error {
		names := []string{secretName(i)}
		if i+ingresses < named {
			names = append(names, secretName(i+ingresses))
		}
		_, err := client.NetworkingV1().Ingresses(namespace).Create(ctx, newIngress(i, names...), metav1.CreateOptions{})
		return err
	}))
}

// deleteIngresses deletes the Ingresses of a namespace at the end of the test, as the controllers of
// other tests reconcile all that there are.
func deleteIngresses(t *testing.T, client kubernetes.Interface, namespace string) {
	t.Cleanup(func() {
		err := client.NetworkingV1().Ingresses(namespace).DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{})
		assert.NoError(t, err)
	})
}

// newSecret returns a Secret with content that does not compress.
func newSecret(i int) *corev1.Secret {
	content := make([]byte, *secretBytes)
	random := rand.NewChaCha8([32]byte{byte(i), byte(i >> 8)})
	_, _ = random.Read(content) // it has no errors
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secretName(i)}, Data: map[string][]byte{"key": content}}
}

// newIngress returns an Ingress that names Secrets.
func newIngress(i int, names ...string) *networkingv1.Ingress {
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("ingress-%02d", i)}}
	ingress.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	for _, name := range names {
		ingress.Spec.TLS = append(ingress.Spec.TLS, networkingv1.IngressTLS{SecretName: name})
	}
	return ingress
}

package target

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetyped/informer/e2e/cluster"
)

// suiteVariable makes the test binary play a suite whose only test never ends.
const suiteVariable = "E2E_TEST_SUITE"

var server *Target // the suite's; in the other tests, one that they share

func TestMain(m *testing.M) {
	os.Exit(Main(m, &server))
}

// TestSuite is the test of that suite.
func TestSuite(t *testing.T) {
	if os.Getenv(suiteVariable) == "" {
		t.Skip("this is a part of TestInterrupt")
	}
	fmt.Println("namespace", server.Namespace(t))
	select {}
}

// existing makes the cluster of this package's tests the one that suites use.
func existing(t *testing.T) kubernetes.Interface {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, server.Cluster(t).WriteKubeconfig(path))
	t.Setenv(kubeconfigVariable, path)
	return kubernetes.NewForConfigOrDie(server.Config())
}

// isRemoved reports whether a namespace is gone, or marked to go: no controller
// runs on these clusters that would finish it.
func isRemoved(t *testing.T, client kubernetes.Interface, name string) bool {
	ns, err := client.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true
	}
	require.NoError(t, err)
	return ns.DeletionTimestamp != nil
}

func TestClusterThatExists(t *testing.T) {
	client := existing(t)
	target, err := Open(t.Context())
	require.NoError(t, err)
	assert.Nil(t, target.Own())
	var first string
	t.Run("a test with a namespace", func(t *testing.T) {
		first = target.Namespace(t)
		assert.False(t, isRemoved(t, client, first))
	})
	assert.True(t, isRemoved(t, client, first), "it goes with its test")
	ran := false
	t.Run("a test that restarts the API server", func(t *testing.T) {
		target.Cluster(t)
		ran = true
	})
	assert.False(t, ran, "it is skipped")
	second := target.Namespace(t)
	third, err := target.NewNamespace(t.Context())
	require.NoError(t, err)
	assert.False(t, isRemoved(t, client, third))
	require.NoError(t, target.Close())
	assert.True(t, isRemoved(t, client, second))
	assert.True(t, isRemoved(t, client, third))
	assert.False(t, isRemoved(t, client, metav1.NamespaceDefault))
}

func TestKubeconfig(t *testing.T) {
	for _, kind := range []string{"own", "existing"} {
		t.Run(kind, func(t *testing.T) {
			target := server
			if kind == "existing" {
				existing(t)
				var err error
				target, err = Open(t.Context())
				require.NoError(t, err)
				defer func() { assert.NoError(t, target.Close()) }()
			}
			content, err := target.Kubeconfig()
			require.NoError(t, err)
			config, err := clientcmd.RESTConfigFromKubeConfig(content)
			require.NoError(t, err)
			_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().Get(t.Context(), metav1.NamespaceDefault, metav1.GetOptions{})
			assert.NoError(t, err)
		})
	}
}

func TestSweep(t *testing.T) {
	client := existing(t)
	for name, labels := range map[string]map[string]string{"left": {ownerLabel: ""}, "mine": nil} {
		_, err := client.CoreV1().Namespaces().Create(t.Context(),
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	target, err := Open(t.Context())
	require.NoError(t, err)
	assert.False(t, isRemoved(t, client, "left"), "it is not old enough: a suite may be using it")
	require.NoError(t, target.sweep(t.Context(), 0))
	assert.True(t, isRemoved(t, client, "left"))
	assert.False(t, isRemoved(t, client, "mine"))
	require.NoError(t, target.Close())
}

func TestOwnCluster(t *testing.T) {
	t.Setenv(kubeconfigVariable, "")
	target, err := Open(t.Context())
	require.NoError(t, err)
	assert.Same(t, target.Own(), target.Cluster(t))
	require.NoError(t, target.Close())
	_, err = target.Own().Compact(t.Context())
	assert.ErrorIs(t, err, cluster.ErrStopped)
}

func TestMissingKubeconfig(t *testing.T) {
	t.Setenv(kubeconfigVariable, "no/such/file")
	_, err := Open(t.Context())
	assert.ErrorContains(t, err, "E2E_KUBECONFIG")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestInterrupt interrupts a suite in the middle of a test.
func TestInterrupt(t *testing.T) {
	for _, kind := range []string{"own", "existing"} {
		t.Run(kind, func(t *testing.T) {
			var client kubernetes.Interface
			t.Setenv(kubeconfigVariable, "")
			if kind == "existing" {
				client = existing(t)
			}
			temp := t.TempDir()
			suite := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuite$")
			suite.Env = append(os.Environ(), suiteVariable+"=1", "TMPDIR="+temp)
			suite.Stderr = t.Output()
			out, err := suite.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, suite.Start())
			var namespace string
			for lines := bufio.NewScanner(out); namespace == "" && lines.Scan(); {
				_, _ = fmt.Sscanf(lines.Text(), "namespace %s", &namespace) // other lines do not match
			}
			require.NotEmpty(t, namespace)
			require.NoError(t, suite.Process.Signal(os.Interrupt))
			var exit *exec.ExitError
			require.ErrorAs(t, suite.Wait(), &exit)
			assert.Equal(t, 1, exit.ExitCode())
			left, err := os.ReadDir(temp)
			require.NoError(t, err)
			assert.Empty(t, left)
			if client != nil {
				assert.True(t, isRemoved(t, client, namespace))
			}
		})
	}
}

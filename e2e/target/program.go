package target

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Repository returns the folder that has the module e2e, from a test of that.
func Repository(tb testing.TB) string {
	tb.Helper()
	out, err := exec.CommandContext(tb.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/kubetyped/informer/e2e").Output()
	require.NoError(tb, err)
	return filepath.Dir(strings.TrimSpace(string(out)))
}

// Build builds a program of another module of the repository for a test, and returns its path.
// The module is a folder of the repository, the package one of the module, such as "./cmd".
func Build(tb testing.TB, module, pkg string) (program string) {
	tb.Helper()
	program = filepath.Join(tb.TempDir(), "program")
	cmd := exec.CommandContext(tb.Context(), "go", "build", "-o", program, pkg)
	cmd.Dir = filepath.Join(Repository(tb), module)
	out, err := cmd.CombinedOutput()
	require.NoError(tb, err, "%s", out)
	return program
}

// WriteKubeconfig writes a kubeconfig with the address and the token of a configuration, such
// as that of a proxy, for a program of a test. It returns its path.
func WriteKubeconfig(tb testing.TB, from *rest.Config) (path string) {
	tb.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["e2e"] = &clientcmdapi.Cluster{Server: from.Host, CertificateAuthorityData: from.CAData}
	config.AuthInfos["e2e"] = &clientcmdapi.AuthInfo{Token: from.BearerToken}
	config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "e2e"}
	config.CurrentContext = "e2e"
	path = filepath.Join(tb.TempDir(), "kubeconfig")
	require.NoError(tb, clientcmd.WriteToFile(*config, path))
	return path
}

package cluster

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName is the name of the only context of a kubeconfig, of its cluster
// and of its user.
const contextName = "e2e"

// Kubeconfig returns a kubeconfig file for other programs: one context, named
// "e2e" and current, with the address and credentials of Config. The caller
// owns it.
func (c *Cluster) Kubeconfig() ([]byte, error) {
	content, err := clientcmd.Write(c.kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig: %w", err)
	}
	return content, nil
}

// WriteKubeconfig writes Kubeconfig to path, which it creates or replaces.
// Only the current user can read a file that it creates.
func (c *Cluster) WriteKubeconfig(path string) error {
	if err := clientcmd.WriteToFile(c.kubeconfig(), path); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

func (c *Cluster) kubeconfig() clientcmdapi.Config {
	from := c.Config()
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{Server: from.Host, CertificateAuthorityData: from.CAData}
	config.AuthInfos[contextName] = &clientcmdapi.AuthInfo{Token: from.BearerToken}
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName}
	config.CurrentContext = contextName
	return *config
}

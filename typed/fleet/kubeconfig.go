package fleet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// LoadKubeconfig returns the clusters of contexts of a kubeconfig, in their order, or of all
// its contexts in the order of their names if none are given; each is called as its context.
// The path "" stands for the files that kubectl reads: those of the environment variable
// KUBECONFIG, or the one in the home directory.
//
// It returns an error if there is no such file, or it cannot be read; and if a context
// does not exist, is given twice or cannot be used, which names it, and the contexts that
// exist.
func LoadKubeconfig(path string, contexts ...string) ([]Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	config, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	exist := slices.Sorted(maps.Keys(config.Contexts))
	if len(contexts) == 0 {
		contexts = exist
	}
	var clusters []Cluster
	var errs []error
	for i, name := range contexts {
		if slices.Contains(contexts[:i], name) {
			errs = append(errs, fmt.Errorf("context %q is given twice", name))
			continue
		}
		if !slices.Contains(exist, name) {
			errs = append(errs, fmt.Errorf("no context %q, only: %s", name, strings.Join(exist, ", ")))
			continue
		}
		usable, err := clientcmd.NewNonInteractiveClientConfig(*config, name, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
		if err = errors.Join(err, checkName(name)); err != nil {
			errs = append(errs, fmt.Errorf("context %q: %w", name, err))
			continue
		}
		clusters = append(clusters, Cluster{Name: name, Config: usable})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return clusters, nil
}

// ParseKubeconfig returns the configuration of the current context of a kubeconfig, or of
// its only one. Its text may come from others, such as a Secret, so it has to be
// complete: it returns an error if the kubeconfig names files, or commands to run, which
// its author could have this program read or run, or a server that is not spoken to
// by https or http.
func ParseKubeconfig(data []byte) (*rest.Config, error) {
	config, err := clientcmd.Load(data)
	if err != nil {
		return nil, err
	}
	name := config.CurrentContext
	if name == "" && len(config.Contexts) == 1 {
		for name = range config.Contexts {
		}
	}
	context := config.Contexts[name]
	switch {
	case len(config.Contexts) == 0:
		return nil, errors.New("the kubeconfig has no context")
	case name == "":
		return nil, errors.New("the kubeconfig has several contexts and no current-context")
	case context == nil:
		return nil, fmt.Errorf("the kubeconfig has no context %q, but: %s", name, strings.Join(slices.Sorted(maps.Keys(config.Contexts)), ", "))
	}
	if err := checkComplete(config.Clusters[context.Cluster], config.AuthInfos[context.AuthInfo]); err != nil {
		return nil, fmt.Errorf("context %q: %w", name, err)
	}
	usable, err := clientcmd.NewNonInteractiveClientConfig(*config, name, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	if scheme, _, ok := strings.Cut(usable.Host, "://"); ok && scheme != "https" && scheme != "http" {
		return nil, fmt.Errorf("context %q: server %q is refused: its scheme is not https or http", name, usable.Host)
	}
	return usable, nil
}

// checkComplete returns an error if what a context is made of refers to something outside.
func checkComplete(cluster *api.Cluster, user *api.AuthInfo) error {
	if cluster == nil {
		cluster = &api.Cluster{}
	}
	if user == nil {
		user = &api.AuthInfo{}
	}
	files := map[string]string{
		"certificate-authority": cluster.CertificateAuthority, "client-certificate": user.ClientCertificate,
		"client-key": user.ClientKey, "tokenFile": user.TokenFile,
	}
	for _, field := range slices.Sorted(maps.Keys(files)) {
		if files[field] != "" {
			return fmt.Errorf("%s names a file, which is rejected: give the data instead", field)
		}
	}
	if user.Exec != nil || user.AuthProvider != nil {
		return errors.New("command or plugin for credentials in a kubeconfig, which is rejected: use a token or a certificate")
	}
	return nil
}

// FromSecret returns a function for [Discover] that makes a cluster of a Secret: of the
// Secret's name, with the kubeconfig that is in its data under a key, see
// [ParseKubeconfig]. Cluster API and others keep kubeconfigs so, under the key "value" or
// "kubeconfig".
func FromSecret(key string) func(*corev1.Secret) ([]Cluster, error) {
	return func(secret *corev1.Secret) ([]Cluster, error) {
		data, ok := secret.Data[key]
		if !ok {
			return nil, fmt.Errorf("no data under the key %q", key)
		}
		config, err := ParseKubeconfig(data)
		if err != nil {
			return nil, fmt.Errorf("secret %s/%s, key %q: %w", secret.Namespace, secret.Name, key, err)
		}
		return []Cluster{{Name: secret.Name, Config: config}}, nil
	}
}

//go:build !race

package generic

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/component-base/logs"
)

// options are what the flags say. All but one come from the library, with the
// names and meanings that they have in kube-apiserver.
type options struct {
	run       *genericoptions.ServerRunOptions
	etcd      *genericoptions.EtcdOptions
	serving   *genericoptions.SecureServingOptions
	tokenFile string
}

// parseOptions reads the flags, and sets the feature gates and the logs of this
// process as they say.
func parseOptions(args []string, codec runtime.Codec) (*options, error) {
	o := &options{
		run:     genericoptions.NewServerRunOptions(),
		etcd:    genericoptions.NewEtcdOptions(storagebackend.NewDefaultConfig("/registry", codec)),
		serving: genericoptions.NewSecureServingOptions(),
	}
	flags := pflag.NewFlagSet("generic", pflag.ContinueOnError)
	o.run.AddUniversalFlags(flags)
	o.etcd.AddFlags(flags)
	o.serving.AddFlags(flags)
	flags.StringVar(&o.tokenFile, "token-auth-file", "", "CSV file of static tokens")
	logs.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if err := o.run.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, err
	}
	errs := append(o.run.Validate(), o.etcd.Validate()...)
	return o, errors.Join(append(errs, o.serving.Validate()...)...)
}

// applyTo configures the server, except authentication and authorization.
func (o *options) applyTo(config *genericapiserver.Config) error {
	if err := o.run.ApplyTo(config); err != nil {
		return err
	}
	if err := o.serving.ApplyTo(&config.SecureServing); err != nil {
		return err
	}
	ca, err := os.ReadFile(o.serving.ServerCert.CertKey.CertFile)
	if err != nil {
		return fmt.Errorf("read --tls-cert-file: %w", err)
	}
	config.LoopbackClientConfig, err = config.SecureServing.NewLoopbackClientConfig(rand.Text(), ca)
	if err != nil {
		return err
	}
	// The address is a name that the serving certificate has. The one that the
	// library expects here is that of a certificate for this client alone, and to
	// make one would take more than half of the time of the start.
	config.LoopbackClientConfig.ServerName = ""
	return o.etcd.ApplyTo(config)
}

//go:build !race

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/component-base/cli/globalflag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// runAPIServer runs a kube-apiserver with its own command-line flags until ctx
// ends, and then waits for its graceful shutdown. It returns an error if a flag
// is wrong, or if the server cannot start or ends by itself.
func runAPIServer(ctx context.Context, args []string) error {
	server := options.NewServerRunOptions()
	if err := parseFlags(server, args); err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	registry := server.GenericServerRunOptions.ComponentGlobalsRegistry
	if err := registry.Set(); err != nil {
		return fmt.Errorf("kube-apiserver: apply feature gates: %w", err)
	}
	gates := registry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(server.Logs, gates); err != nil {
		return fmt.Errorf("kube-apiserver: set up logs: %w", err)
	}
	completed, err := server.Complete(ctx)
	if err != nil {
		return fmt.Errorf("kube-apiserver: complete options: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return fmt.Errorf("kube-apiserver: %w", errors.Join(errs...))
	}
	if err := app.Run(ctx, completed); err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	return nil
}

func parseFlags(server *options.ServerRunOptions, args []string) error {
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	sections := server.Flags()
	globalflag.AddGlobalFlags(sections.FlagSet("global"), flags.Name(), logs.SkipLoggingConfigurationFlags())
	for _, section := range sections.FlagSets {
		flags.AddFlagSet(section)
	}
	return flags.Parse(args)
}

package cluster

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Option changes how [Start] starts a cluster. A wrong value makes Start return
// an error.
type Option func(*options) error

type options struct {
	binary   string    // the control plane's program, or "" to build it
	flags    []string  // of the API server, after ours
	progress io.Writer // never nil
}

func newOptions(opts []Option) (options, error) {
	o := options{progress: io.Discard}
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return options{}, fmt.Errorf("cluster option: %w", err)
		}
	}
	return o, nil
}

// WithBinary names the program built from cmd/controlplane. Without it, Start
// takes the one that the environment variable E2E_CONTROLPLANE names, and if
// that is empty too, builds it.
func WithBinary(path string) Option {
	return func(o *options) error {
		if path == "" {
			return errors.New("WithBinary: path is empty")
		}
		o.binary = path
		return nil
	}
}

// WithAPIServerFlags adds command-line flags for the API server, such as
// "--watch-cache=false" or "-v=4". They come after the package's own, so that
// of two flags with a single value, the one given here counts.
func WithAPIServerFlags(flags ...string) Option {
	flags = slices.Clone(flags)
	return func(o *options) error {
		o.flags = append(o.flags, flags...)
		return nil
	}
}

// WithProgress makes Start and Restart write what they are doing to w, a line
// for each step, from the goroutine that called them.
func WithProgress(w io.Writer) Option {
	return func(o *options) error {
		if w == nil {
			return errors.New("WithProgress: writer is nil")
		}
		o.progress = w
		return nil
	}
}

package proxy

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Option changes how [Start] starts a proxy. A wrong value makes Start return an
// error.
type Option func(*options) error

type options struct {
	log io.Writer // never nil
	lag time.Duration
}

func newOptions(opts []Option) (options, error) {
	o := options{log: io.Discard}
	for _, opt := range opts {
		if opt == nil {
			return options{}, errors.New("option is nil")
		}
		if err := opt(&o); err != nil {
			return options{}, fmt.Errorf("option: %w", err)
		}
	}
	return o, nil
}

// WithLog writes a line to w, a Write each, for every fault that meets a request
// and for every connection or request that fails by itself. Nothing is written
// after Close.
func WithLog(w io.Writer) Option {
	return func(o *options) error {
		if w == nil {
			return errors.New("WithLog: writer is nil")
		}
		o.log = w
		return nil
	}
}

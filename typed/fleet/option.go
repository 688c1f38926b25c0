package fleet

import (
	"fmt"
	"time"
)

// Option sets up a Source. An invalid one is an error of the informer's methods.
type Option func(*config) error

type config struct {
	patience time.Duration // 0: without end
	all      bool
	expiry   time.Duration // 0: never
}

// defaultPatience is how long the first sync waits for a cluster that says nothing. It is
// longer than a list of about 50,000 objects takes, and shorter than a probe of readiness gives
// a program.
const defaultPatience = 10 * time.Second

// WithPatience sets for how long the informer's first sync waits for a cluster that has
// neither been listed nor failed, 10 seconds without it. Objects that are listed later are
// additions with the reason index.Acquired. 0 stands for as long as it takes.
func WithPatience(d time.Duration) Option {
	return func(c *config) error {
		if d < 0 {
			return fmt.Errorf("the patience %v is negative", d)
		}
		c.patience = d
		return nil
	}
}

// WithAllListed makes the informer sync when all clusters of the set have been listed, however
// long that takes: one that cannot be reached keeps it from syncing until it is removed.
func WithAllListed() Option {
	return func(c *config) error {
		c.all = true
		return nil
	}
}

// WithExpiry removes the objects of a cluster that has failed for a time, with the reason
// index.Released. When it works again it is listed again, and they are additions with the
// reason index.Acquired. Without it they stay, as they were last known, and
// [ClusterStatus] says how old that is.
func WithExpiry(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("the expiry %v is not positive", d)
		}
		c.expiry = d
		return nil
	}
}

// Package wait is a stub.
package wait

import (
	"context"
	"time"
)

func PollUntilContextTimeout(ctx context.Context, interval, timeout time.Duration, immediate bool, f func(context.Context) (bool, error)) error {
	return nil
}

func Until(f func(), period time.Duration, stop <-chan struct{}) {}

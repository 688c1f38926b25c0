//go:build !race

package generic

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const etcdPoll = 5 * time.Millisecond

// waitForEtcd returns when one of the servers listens, or with the error of ctx. It is for the
// start of both at once: a client of etcd that finds no server waits for a second before it
// tries again.
func waitForEtcd(ctx context.Context, servers []string) error {
	listens := func(ctx context.Context) (bool, error) {
		for _, server := range servers {
			at, err := url.Parse(server)
			if err != nil {
				return false, fmt.Errorf("--etcd-servers: %w", err)
			}
			network, address := "tcp", at.Host
			if at.Scheme == "unix" {
				network, address = "unix", at.Path
			}
			var dialer net.Dialer
			if conn, err := dialer.DialContext(ctx, network, address); err == nil {
				return true, conn.Close()
			}
		}
		return false, nil
	}
	if err := wait.PollUntilContextCancel(ctx, etcdPoll, true, listens); err != nil {
		return fmt.Errorf("wait for etcd: %w", err)
	}
	return nil
}

package cluster

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	readyTimeout = 2 * time.Minute
	readyPoll    = 50 * time.Millisecond
	probeTimeout = 5 * time.Second
)

// waitReady waits until the API server at config is ready and has made the
// namespace "default". It returns an error if one of the servers ends, or if
// none of that happens before ctx ends or readyTimeout is over; then the error
// says what the last probe found.
func waitReady(ctx context.Context, config *rest.Config, etcd, apiserver *process) error {
	config.Timeout = probeTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	var unready error
	err = wait.PollUntilContextCancel(ctx, readyPoll, true, func(ctx context.Context) (bool, error) {
		for _, p := range []*process{etcd, apiserver} {
			if err := p.ended(); err != nil {
				return false, err
			}
		}
		err := probe(ctx, client)
		if err != nil && ctx.Err() == nil {
			unready = err
		}
		return err == nil, nil
	})
	if err != nil && ctx.Err() != nil {
		return apiserver.explain(fmt.Errorf("wait until %s is ready: %w (last probe: %v)", apiserver.name, err, unready))
	}
	return err
}

// probe returns nil if the API server is ready for its clients.
func probe(ctx context.Context, client kubernetes.Interface) error {
	// MaxRetries: this loop is the one that tries again.
	if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").MaxRetries(0).Do(ctx).Error(); err != nil {
		return err
	}
	_, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	return err
}

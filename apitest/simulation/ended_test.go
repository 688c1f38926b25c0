package simulation_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/simulation"
)

// TestRequestsAfterTheEnd: a request whose context has ended before it is made does not arrive.
func TestRequestsAfterTheEnd(t *testing.T) {
	assert.Nil(t, simulation.Find(t, 3, func(s *simulation.Simulation) {
		s.Faults()
		s.Start("late", func(ctx context.Context, config *rest.Config) error {
			client, err := rest.HTTPClientFor(config)
			if err != nil {
				return err
			}
			ended, cancel := context.WithCancel(ctx)
			cancel()
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ended, http.MethodPost, config.Host+"/api/v1/namespaces/shop/configmaps",
					strings.NewReader(`{"metadata":{"generateName":"late-"}}`))
				if err != nil {
					return err
				}
				if _, err = client.Do(r); !errors.Is(err, context.Canceled) {
					return err
				}
				time.Sleep(time.Minute)
			}
			return nil
		})
		s.Eventually("nothing is written", time.Minute, func(now simulation.State) error {
			if len(now.Writes()) > 0 {
				return errors.New("a request has arrived")
			}
			return nil
		})
	}))
}

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/kubetyped/informer/typed/control"
)

// serve answers requests for metrics and the ready check until ctx ends, and closes the
// listener.
func (c *controller) serve(ctx context.Context, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("/metrics", c.metrics)
	mux.HandleFunc("/readyz", c.readyz)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { stopped <- server.Shutdown(context.WithoutCancel(ctx)) })
	if err := server.Serve(listener); stop() {
		return err
	}
	return <-stopped
}

// readyz answers 200 once the informers have synced, whether this instance leads or not.
func (c *controller) readyz(w http.ResponseWriter, _ *http.Request) {
	if err := control.Ready(c.owners, c.pods); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

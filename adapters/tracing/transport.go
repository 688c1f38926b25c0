package tracing

import (
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/client-go/rest"
)

// Transport returns a copy of config with which requests that are made with the context of a
// span, such as that of a reconcile function, have a span each, and carry it to the server:
// API servers that trace continue the trace. Other requests, among them the lists and watches
// of informers, are as before. If t is nil, the copy is as config is, and if config is nil, so
// is what is returned.
func Transport(t *Tracer, config *rest.Config) *rest.Config {
	if config == nil {
		return nil
	}
	traced := rest.CopyConfig(config)
	if t == nil {
		return traced
	}
	traced.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return otelhttp.NewTransport(next,
			otelhttp.WithTracerProvider(t.provider),
			otelhttp.WithMeterProvider(noop.NewMeterProvider()),
			otelhttp.WithPropagators(t.propagator),
			otelhttp.WithFilter(func(r *http.Request) bool {
				return trace.SpanContextFromContext(r.Context()).IsSampled()
			}))
	})
	return traced
}

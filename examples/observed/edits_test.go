package observed

// edit is a piece of examples/controller, and what takes its place.
type edit struct{ file, old, new string }

// page adds the page: two lines.
var page = []edit{{"main.go", `
	var listener net.Listener
`, `
	inspector, err := inspect.New(inspect.WithInformers(c.owners, c.pods), inspect.WithQueue(c.queue), inspect.WithWrites(c.writes))
	http.Handle("/debug/informers/", inspector)
	var listener net.Listener
`}}

// prometheus adds metrics of informers, handlers and own writes: two lines.
var prometheus = []edit{{"main.go", `
	var listener net.Listener
`, `
	_, err = observe.New(prom.DefaultRegisterer, observe.WithInformers(c.owners, c.pods), observe.WithQueues(c.queue), observe.WithWrites(c.writes))
	http.Handle("/metrics", promhttp.Handler())
	var listener net.Listener
`}}

// traces adds traces: a tracer that wraps the client, a source, the queue, and the handler between
// the two. Six lines are new, and three change.
var traces = []edit{
	{"controller.go", `	client, err := kubernetes.NewForConfig(writes.Config(config))`, `	tracer, err := tracing.New()
	client, err := kubernetes.NewForConfig(writes.Config(tracing.Transport(tracer, config)))`},
	{"controller.go", `
	c := &controller{`, `
	maps, events := tracing.Source(tracer, kube.FromClient(client.CoreV1().ConfigMaps(metav1.NamespaceAll), selected))
	traced, err := tracing.NewQueue(tracer, "owners", q)
	c := &controller{
		events: events, traced: traced,`},
	{"controller.go", `typed.NewInformer(kube.FromClient(client.CoreV1().ConfigMaps(metav1.NamespaceAll), selected))`, `typed.NewInformer(maps)`},
	{"controller.go", `
	metrics *metrics
`, `
	metrics *metrics
	events  *tracing.Events
	traced  *tracing.Queue[index.Key]
`},
	{"controller.go", `c.owners.Handle(control.FilterUpdates(control.Enqueue[*corev1.ConfigMap](c.queue), control.ResourceVersionChanged))`,
		`c.owners.Handle(tracing.Enqueue(c.events, c.traced, func(q control.Adder[index.Key]) typed.Handler[*corev1.ConfigMap] {
		return control.FilterUpdates(control.Enqueue[*corev1.ConfigMap](q), control.ResourceVersionChanged)
	}))`},
	{"controller.go", `control.WithWorkers(c.queue,`, `control.WithWorkers(c.traced,`},
}

// setup is what every program with these libraries has: imports, a server, and where spans go.
var setup = []edit{
	{"main.go", `
	"golang.org/x/sync/errgroup"
`, `
	"net/http"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/sync/errgroup"

	observe "github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/typed/inspect"
`},
	{"main.go", `
	config, closeServer, err := connect(*kubeconfig)
`, `
	exporter, err := stdouttrace.New(stdouttrace.WithWriter(out))
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)))
	config, closeServer, err := connect(*kubeconfig)
`},
	{"controller.go", `
	"github.com/kubetyped/informer/index"
`, `
	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/index"
`},
	{"serve.go", `	mux := http.NewServeMux()
	mux.Handle("/metrics", c.metrics)`, `	mux := http.DefaultServeMux`},
}

// Package tracing follows changes of objects from the API server to what a controller
// makes of them, as traces of OpenTelemetry:
//
//	receive ConfigMap          the source has it, with its version and who wrote it
//	├── store                  until reads give it
//	├── handle                 a handler is called for it
//	├── queue                  a key waits, which the handler has added
//	└── reconcile              the key is reconciled, with links to all that led to it
//	    └── HTTP POST          a request to the API server, which gets the trace, too
//
// It wraps what a program has, and there is nothing of it in the core:
//
//	tracer, err := tracing.New()
//	source, events := tracing.Source(tracer, kube.FromREST[*corev1.ConfigMap](config))
//	keys, err := tracing.NewQueue(tracer, "maps", queue)
//
//	maps := typed.NewInformer(source)
//	maps.Handle(tracing.Enqueue(events, keys, func(q control.Adder[index.Key]) typed.Handler[*corev1.ConfigMap] {
//		return control.Enqueue[*corev1.ConfigMap](q)
//	}))
//	err = control.Run(ctx, control.WithInformers(maps), control.WithWorkers(keys, 2, reconcile))
//
// A nil *Tracer is tracing that is off: Source returns the source that it is given,
// Enqueue what its function makes for the queue, and so on. So a program is written once.
//
// Guarantees:
//
//  1. Handlers, readers and queues see the same as without tracing, in the same order.
//  2. Events of watches are traced, and no lists: neither the first one nor later ones.
//  3. Which events are traced is decided when they are received, see WithSampling and
//     WithRate. The others cost a hash in the source, and next to nothing after it.
//  4. Memory is bounded, see WithBounds: an event until all handlers of its
//     source were called for it, a key until it was reconciled. Beyond that,
//     tracing ends.
//  5. No span is left open when an informer or a queue ends.
//
// docs/reference/spans.md lists all spans and attributes.
//
// It is its own module, so that who imports this project need not know of OpenTelemetry.
package tracing

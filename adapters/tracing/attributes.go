package tracing

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/kubetyped/informer/index"
)

// The attributes of spans. A test compares them with the table of docs/reference/spans.md.
const (
	objectKind      = attribute.Key("k8s.object.kind")
	objectNamespace = attribute.Key("k8s.namespace.name")
	objectName      = attribute.Key("k8s.object.name")
	objectVersion   = attribute.Key("k8s.object.resource_version")

	serverTime        = attribute.Key("k8s.server.time")
	serverAge         = attribute.Key("k8s.server.age_seconds")
	serverManager     = attribute.Key("k8s.server.manager")
	serverSubresource = attribute.Key("k8s.server.subresource")

	eventType = attribute.Key("kubetyped.event")
	handlerIs = attribute.Key("kubetyped.handler")

	queueName     = attribute.Key("kubetyped.queue")
	queueKey      = attribute.Key("kubetyped.key")
	queuePriority = attribute.Key("kubetyped.priority")
	queueDelay    = attribute.Key("kubetyped.delay_seconds")

	eventsLed     = attribute.Key("kubetyped.events")
	eventsLeftOut = attribute.Key("kubetyped.events_left_out")
	attempt       = attribute.Key("kubetyped.attempt")
	requeueAfter  = attribute.Key("kubetyped.requeue_after_seconds")
)

// keyAttributes returns those of an object's key.
func keyAttributes(kind string, key index.Key, version string) []attribute.KeyValue {
	attrs := []attribute.KeyValue{objectKind.String(kind), objectName.String(key.Name)}
	if key.Namespace != "" {
		attrs = append(attrs, objectNamespace.String(key.Namespace))
	}
	if version != "" {
		attrs = append(attrs, objectVersion.String(version))
	}
	return attrs
}

package tracing

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
)

// versionOf returns the resource version of an object, "" if it has none.
func versionOf[T index.Object](obj T) string {
	if versioned, ok := any(obj).(interface{ GetResourceVersion() string }); ok {
		return versioned.GetResourceVersion()
	}
	return ""
}

// lastWrite returns what the API server knows of the last write to an object, as
// attributes: when, by its clock and to the second, and by whom.
func lastWrite[T index.Object](obj T, received time.Time) []attribute.KeyValue {
	managed, ok := any(obj).(interface {
		GetManagedFields() []metav1.ManagedFieldsEntry
	})
	if !ok {
		return nil
	}
	var last *metav1.ManagedFieldsEntry
	fields := managed.GetManagedFields()
	for i := range fields {
		if at := fields[i].Time; at != nil && (last == nil || last.Time.Before(at)) {
			last = &fields[i]
		}
	}
	if last == nil {
		return nil
	}
	attrs := []attribute.KeyValue{
		serverTime.String(last.Time.UTC().Format(time.RFC3339)),
		serverAge.Float64(received.Sub(last.Time.Time).Seconds()),
		serverManager.String(last.Manager),
	}
	if last.Subresource != "" {
		attrs = append(attrs, serverSubresource.String(last.Subresource))
	}
	return attrs
}

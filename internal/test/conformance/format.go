package conformance

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// format is what clients speak.
type format string

const (
	json     format = "json"
	protobuf format = "protobuf"
)

func (f format) mediaType() string {
	if f == protobuf {
		return runtime.ContentTypeProtobuf
	}
	return runtime.ContentTypeJSON
}

// config returns a copy of a configuration, for clients that speak the format.
func (f format) config(of *rest.Config) *rest.Config {
	config := rest.CopyConfig(of)
	config.ContentType = f.mediaType()
	return config
}

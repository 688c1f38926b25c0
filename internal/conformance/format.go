package conformance

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/rest"
)

// format is what clients speak.
type format string

const (
	json     format = "json"
	protobuf format = "protobuf"
	cbor     format = "cbor"
)

func (f format) mediaType() string {
	switch f {
	case protobuf:
		return runtime.ContentTypeProtobuf
	case cbor:
		return runtime.ContentTypeCBOR
	default:
		return runtime.ContentTypeJSON
	}
}

// config returns a copy of a configuration, for clients that speak the format.
func (f format) config(of *rest.Config) *rest.Config {
	config := rest.CopyConfig(of)
	config.ContentType = f.mediaType()
	return config
}

// allowCBOR lets clients that are made from now on speak CBOR, dynamic clients
// even without being asked, until the test ends. It skips the test if the server
// does not. Other than by these gates of the process, client-go cannot be told.
func allowCBOR(t *testing.T, rig Rig) {
	t.Helper()
	if !rig.CBOR {
		t.Skip("the server has no CBOR")
	}
	featurestesting.SetFeatureDuringTest(t, features.ClientsAllowCBOR, true)
	featurestesting.SetFeatureDuringTest(t, features.ClientsPreferCBOR, true)
}

// Package wire spells objects, lists and watch events as an API server does: it
// negotiates the media type (JSON, YAML, protobuf) and the transformation
// to PartialObjectMetadata, and encodes with apimachinery's serializers.
package wire

package kube

import (
	"bufio"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
)

// protobufMagic begins all that API servers send in protobuf, except watches.
const protobufMagic = "k8s\x00"

// recognize returns the media type of an answer that does not say what it is in: JSON,
// or, of a list, protobuf if it begins so. client-go takes a watch for JSON, too, and a
// list for what its configuration says. The body is to be read in place of the other.
func recognize(body io.ReadCloser, isWatch bool) (io.ReadCloser, string) {
	if isWatch {
		return body, runtime.ContentTypeJSON
	}
	buffered := bufio.NewReader(body)
	mediaType := runtime.ContentTypeJSON
	if begin, err := buffered.Peek(len(protobufMagic)); err == nil && string(begin) == protobufMagic {
		mediaType = runtime.ContentTypeProtobuf
	}
	return recognized{buffered, body}, mediaType
}

// recognized is a body of which the beginning has been looked at.
type recognized struct {
	io.Reader
	io.Closer
}

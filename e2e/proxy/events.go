package proxy

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// firstBuffer holds most events.
const firstBuffer = 16 << 10

// eventsOf returns what reads the next event of a watch, in the form that it has
// in the stream.
func eventsOf(watch *http.Response) func() ([]byte, error) {
	framer, end := framerOf(watch.Header.Get("Content-Type"))
	frames := framer.NewFrameReader(watch.Body)
	buffer := make([]byte, firstBuffer)
	var event bytes.Buffer
	out := framer.NewFrameWriter(&event)
	return func() ([]byte, error) {
		n := 0
		for {
			m, err := frames.Read(buffer[n:])
			n += m
			if err == nil {
				break
			}
			if !errors.Is(err, io.ErrShortBuffer) {
				return nil, err
			}
			buffer = append(buffer, make([]byte, len(buffer))...)
		}
		event.Reset()
		if _, err := out.Write(buffer[:n]); err != nil {
			return nil, err
		}
		event.WriteString(end)
		return event.Bytes(), nil
	}
}

// framerOf returns a framer that splits a stream into events, and the text after each event that
// the framer does not write.
func framerOf(contentType string) (framer runtime.Framer, end string) {
	// What cannot be parsed is taken for JSON, as what clients do not know.
	mediaType, _, _ := mime.ParseMediaType(contentType)
	if mediaType == runtime.ContentTypeProtobuf {
		return protobuf.LengthDelimitedFramer, ""
	}
	return json.Framer, "\n"
}

// bytesOf returns what reads the next bytes of an answer that is no stream.
func bytesOf(answer *http.Response) func() ([]byte, error) {
	in := answer.Body
	buffer := make([]byte, firstBuffer)
	return func() ([]byte, error) {
		for {
			n, err := in.Read(buffer)
			if n > 0 {
				// An error comes again with the next call.
				return buffer[:n], nil
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

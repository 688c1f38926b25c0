package wire

import (
	"bytes"
	"encoding/json"
	"unsafe"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// identifyJSON reads the identity of an object, whatever may be wrong with the rest of it. It
// returns false if the text is no JSON object.
func identifyJSON(text []byte) (Identity, bool) {
	var object struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if utiljson.Unmarshal(text, &object) != nil {
		return Identity{}, false
	}
	var metadata struct {
		Namespace       json.RawMessage `json:"namespace"`
		Name            json.RawMessage `json:"name"`
		ResourceVersion json.RawMessage `json:"resourceVersion"`
	}
	if len(object.Metadata) == 0 || utiljson.Unmarshal(object.Metadata, &metadata) != nil {
		return Identity{}, true
	}
	stringOf := func(value json.RawMessage) string {
		var text string
		if len(value) == 0 || utiljson.Unmarshal(value, &text) != nil {
			return ""
		}
		return text
	}
	return Identity{stringOf(metadata.Namespace), stringOf(metadata.Name), stringOf(metadata.ResourceVersion)}, true
}

// The fields of an object's metadata in protobuf. The metadata is field 1 of all
// objects of the API.
const (
	nameField      = 1
	namespaceField = 3
	versionField   = 6
)

// identifyProtobuf reads the identity of an object, as far as its fields can be parsed.
func identifyProtobuf(object protobufMessage) (id Identity) {
	for len(object) > 0 {
		number, value, err := object.next()
		if err != nil {
			break
		}
		if number == 1 {
			id.add(value)
		}
	}
	return id
}

// add reads what is in metadata.
func (id *Identity) add(metadata protobufMessage) {
	for len(metadata) > 0 {
		number, value, err := metadata.next()
		if err != nil {
			break
		}
		switch number {
		case nameField:
			id.Name = string(value)
		case namespaceField:
			id.Namespace = string(value)
		case versionField:
			id.ResourceVersion = string(value)
		}
	}
}

// keyOf returns the namespace and name of an object, as far as its fields can be parsed. They
// refer to its bytes.
func keyOf(object protobufMessage) (namespace, name string) {
	metadata, _ := object.field(1)
	for len(metadata) > 0 {
		number, value, err := metadata.next()
		if err != nil || number > namespaceField {
			break
		}
		switch number {
		case nameField:
			name = unsafe.String(unsafe.SliceData(value), len(value))
		case namespaceField:
			namespace = unsafe.String(unsafe.SliceData(value), len(value))
		}
	}
	return namespace, name
}

// keyOfJSON returns the namespace and name of an object, as far as it can be seen without
// reading all of it. They refer to its text.
func keyOfJSON(object []byte) (namespace, name string) {
	metadata := jsonMembers(object)
	for {
		key, value := metadata.next()
		if key == nil {
			return "", ""
		}
		if string(key) == "metadata" {
			metadata = value
			break
		}
	}
	for namespace == "" || name == "" {
		key, value := metadata.next()
		switch string(key) {
		case "":
			return namespace, name
		case "name":
			name = value.string()
		case "namespace":
			namespace = value.string()
		}
	}
	return namespace, name
}

// jsonMembers is the text of an object, from its brace or from the end of one of its members.
// It is for looking up some of them: invalid text may look like a member.
type jsonMembers []byte

// next returns the next member, and moves to the one after it. The key is nil if there is none,
// or it has an escape in it.
func (m *jsonMembers) next() (key []byte, value jsonMembers) {
	text := bytes.TrimLeft(*m, " \t\r\n,{")
	if len(text) == 0 || text[0] != '"' {
		return nil, nil
	}
	end := bytes.IndexByte(text[1:], '"') + 1
	if end == 0 || bytes.IndexByte(text[:end], '\\') >= 0 {
		return nil, nil
	}
	key, text = text[1:end], bytes.TrimLeft(text[end+1:], " \t\r\n:")
	size := len(text)
	if size > 0 {
		if c := text[0]; c == '{' || c == '[' || c == '"' {
			size, _ = (&jsonValue{}).scan(text)
		} else if comma := bytes.IndexByte(text, ','); comma >= 0 {
			size = comma
		}
	}
	*m = text[size:]
	return key, jsonMembers(text[:size])
}

// string returns the value of a member, if it is a string without escapes. It refers to
// its text.
func (m jsonMembers) string() string {
	if len(m) < 2 || m[0] != '"' || bytes.IndexByte(m, '\\') >= 0 {
		return ""
	}
	return unsafe.String(&m[1], len(m)-2)
}

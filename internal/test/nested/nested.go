// Package nested defines an object that contains objects of its kind, as schemas of custom
// resources do, to any depth.
package nested

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Object is decoded from JSON and from protobuf.
type Object struct {
	metav1.ObjectMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`

	Text     string            `json:"text,omitempty" protobuf:"bytes,2,opt,name=text"`
	Next     *Object           `json:"next,omitempty" protobuf:"bytes,3,opt,name=next"`
	Children []Object          `json:"children,omitempty" protobuf:"bytes,4,rep,name=children"`
	ByName   map[string]Object `json:"byName,omitempty" protobuf:"bytes,5,rep,name=byName"`
	Texts    map[string]string `json:"texts,omitempty" protobuf:"bytes,6,rep,name=texts"`
	Bytes    []byte            `json:"bytes,omitempty" protobuf:"bytes,7,opt,name=bytes"`
	Numbers  []int64           `json:"numbers,omitempty" protobuf:"varint,8,rep,name=numbers"`
	Any      any               `json:"any,omitempty" protobuf:"-"`
	Anys     map[string]any    `json:"anys,omitempty" protobuf:"-"`
}

// Nest returns the message of an Object that has another one in it, depth times over.
// The field is the number of Next, Children or ByName.
func Nest(field byte, depth int, message []byte) []byte {
	for range depth {
		if field == 5 {
			message = append([]byte{1<<3 | 2, 1, 'x'}, value(2, message)...)
		}
		message = value(field, message)
	}
	return message
}

// value returns a field that has a length.
func value(field byte, data []byte) []byte {
	made := []byte{field<<3 | 2}
	size := uint64(len(data))
	for ; size >= 0x80; size >>= 7 {
		made = append(made, byte(size)|0x80)
	}
	return append(append(made, byte(size)), data...)
}

package kube

import (
	"bytes"
	"encoding/json"
)

// jsonObject is a JSON object whose values are as they were written, so that no
// number is rounded.
type jsonObject map[string]json.RawMessage

// readObject returns a value as an object, false if it is something else.
func readObject(value json.RawMessage) (jsonObject, bool) {
	if !bytes.HasPrefix(value, []byte("{")) {
		return nil, false
	}
	var object jsonObject
	return object, json.Unmarshal(value, &object) == nil
}

// set sets a value to a text.
func (o jsonObject) set(name, text string) (err error) {
	o[name], err = json.Marshal(text)
	return err
}

var null = json.RawMessage("null")

// mergePatch returns the JSON merge patch (RFC 7396) from old to updated, empty if
// they say the same. null and absence are the same, as the format has it. Both were
// encoded by encoding/json, which spells equal values alike.
func mergePatch(old, updated jsonObject) (jsonObject, error) {
	patch := jsonObject{}
	for name, value := range updated {
		was, had := old[name]
		if had && bytes.Equal(was, value) || !had && bytes.Equal(value, null) {
			continue
		}
		before, wasObject := readObject(was)
		after, isObject := readObject(value)
		if !wasObject || !isObject {
			patch[name] = value
			continue
		}
		within, err := mergePatch(before, after)
		if err != nil {
			return nil, err
		}
		if len(within) == 0 {
			continue
		}
		if patch[name], err = json.Marshal(within); err != nil {
			return nil, err
		}
	}
	for name, was := range old {
		if _, has := updated[name]; !has && !bytes.Equal(was, null) {
			patch[name] = null
		}
	}
	return patch, nil
}

package target

// The forms of objects that are decoded, as benchmarks have them.
const (
	podProtobuf      = "form=pod-protobuf/perapp=50"
	podProtobufAlone = "form=pod-protobuf/perapp=1"
	unstructuredJSON = "form=unstructured-json/perapp=50"
	resourceJSON     = "form=resource-json/perapp=50"
	ownStruct        = "form=sixfields-own-protobuf/perapp=50"
	maskedPod        = "form=sixfields-pod-protobuf/perapp=50"
)

// decoding are targets for objects: for decoding them from bytes, and for keeping them.
func decoding() []Target {
	const processor = "cpu-sec/op"
	return against(clientGo, []Target{
		{Name: "Held/" + podProtobuf, Unit: "B/pod", AtLeast: 2, Work: "memory of a Pod", Headline: true},
		{Name: "DecodeUpdate/" + podProtobuf, Unit: processor, AtLeast: 2.5, Work: "decode an update of a Pod, CPU time"},
		{Name: "DecodeItem/" + podProtobuf, Unit: processor, AtLeast: 1.8, Work: "decode a Pod of a list, CPU time"},
		{Name: "DecodeItem/" + podProtobufAlone, Unit: processor, AtLeast: 0.95, Work: "the same, no two Pods of one application"},
		{Name: "Held/" + unstructuredJSON, Unit: "B/pod", AtLeast: 3, Work: "memory of an unstructured Pod"},
		{Name: "DecodeUpdate/" + unstructuredJSON, Unit: processor, AtLeast: 5, Work: "decode an update of an unstructured Pod, JSON, CPU time"},
		{Name: "DecodeUpdate/" + resourceJSON, Unit: processor, AtLeast: 6, Work: "decode an update of a custom resource, JSON, CPU time", Headline: true},
		{Name: "DecodeUpdate/" + ownStruct, Unit: processor, AtLeast: 8, Work: "decode an update into a struct of six fields, CPU time"},
		{Name: "DecodeUpdate/" + maskedPod, Unit: processor, AtLeast: 6, Work: "decode six fields of an update of a Pod, CPU time"},
		{Name: "Held/" + maskedPod, Unit: "B/pod", AtLeast: 8, Work: "memory of a Pod with six fields"},
	})
}

// decodingLimits are for what objects may be made of.
func decodingLimits() []Target {
	const objects = "objects/pod"
	return []Target{
		{Name: "Held/" + podProtobuf, Unit: objects, AtMost: 40},
		{Name: "DecodeUpdate/" + podProtobuf, Unit: allocations, AtMost: 45},
		{Name: "Held/" + unstructuredJSON, Unit: objects, AtMost: 135},
		{Name: "DecodeUpdate/" + unstructuredJSON, Unit: allocations, AtMost: 60},
		{Name: "Held/" + ownStruct, Unit: "B/pod", AtMost: 600},
	}
}

// Package jsontree decodes JSON objects into maps, slices and values of interfaces, as
// unstructured objects have them, and makes parts that repeat one value.
//
// It goes through the bytes once, and compares them with a similar object, such as the last
// state of the object. A value that is the same there is taken as it is, with its interface,
// and costs nothing. One that differs is looked up by its bytes in a table of parts. A part
// that is found is compared with the bytes, member by member, before it is used: no hash has to
// be good for that. Only if none is found, the value is allocated, with the keys that other
// maps have.
//
// Structs does the same for structs with JSON tags, by a plan that is made once from their
// fields. It takes parts only from the similar object; there is no table.
//
// A Decoder decodes JSON as encoders write it. It leaves everything else, such as a surrogate
// alone, bytes that are not UTF-8 or a number that is too large, to apimachinery's decoder,
// whole objects at a time, so that the result is that of apimachinery.
package jsontree

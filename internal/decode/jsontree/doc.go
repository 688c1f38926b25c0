// Package jsontree decodes JSON objects into maps, slices and values of interfaces, as
// unstructured objects have them, and makes parts that repeat one value.
//
// It goes through the bytes once, with what is like the object beside it, such as its
// last state. A value that is the same there is taken as it is, with its interface, and
// costs nothing. One that differs is looked up by its bytes in a table of parts, and
// compared with them, member by member, before it is used: what shares it depends on no
// hash being good. Only what is not found either is allocated, with the keys that other
// maps have.
//
// Structs does the same for structs with JSON tags, by a plan of their fields that is made
// once from these. Their parts are those of what is like them; there is no table.
//
// A Decoder decodes what JSON encoders write. Whatever else there may be, such as a
// surrogate alone, bytes that are not UTF-8 or a number that is too large, it leaves to
// apimachinery's decoder, whole objects at a time, so that what comes out is what that
// makes of it.
package jsontree

// Package plan turns the protobuf encoding of API objects into Go values by plans:
// tables of fields, each made once for a Go type from its struct tags.
//
// It does two things that generated code does not:
//
//   - Parts that repeat are one value. Where a nested message, slice, map or
//     string has bytes that were decoded before, or that the object's last state
//     has as well, the value of then is used again, and nothing is allocated. A
//     value is used only after it was compared with the bytes, field by field: what
//     shares it depends on no hash being good.
//   - Fields that nobody asks for are skipped in the bytes.
//
// A plan decodes what encoders of API servers write. Whatever else may be in a
// message, such as a field that comes twice, an error or a length that leads
// nowhere, it leaves to the generated code, whole objects at a time, so that what
// comes out is what the generated code makes of it.
package plan

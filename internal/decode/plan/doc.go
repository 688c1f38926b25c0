// Package plan turns the protobuf encoding of API objects into Go values by plans: tables of
// fields, each made once for a Go type from its struct tags.
//
// It does two things that generated code does not:
//
//   - Parts that repeat are one value. Where a nested message, slice, map or string has bytes
//     that were decoded before, or that the object's last state has as well, that value is used
//     again, and nothing is allocated. A value is used only after it was compared with the
//     bytes, field by field: no hash has to be good for that.
//   - Fields that are not asked for are skipped in the bytes.
//
// A plan decodes messages as encoders of API servers write them. It leaves everything else to
// the generated code, such as a field that comes twice, an error or a length that leads
// nowhere: whole objects at a time, so that the result is that of the generated code.
//
// # Structs of a user's own
//
// A plan of [From] decodes messages of a type of the API into another struct, whose fields are
// those of the API type that have the same names in JSON. The result is that of decoding the
// object's JSON, which encoding/json writes after generated code has decoded the bytes. The
// only difference is that a plan does not see errors in fields that it skips. DecodeAnyway
// decodes by way of JSON, and the tests compare the two. They agree for these reasons:
//
//   - Fields of both are found by the rules of encoding/json, and each field of the struct has
//     to be one of the API type. Otherwise there is no plan: a server that is newer than this
//     program may send fields in JSON that the API type does not have. Nor is there one if the
//     struct, or a type in it, has methods that decode it, is an interface, or is of another
//     kind than the field, since it would be an error.
//   - Scalars, slices and maps of the same kinds are the same values in both formats, except
//     for texts that are not UTF-8, whose JSON has other letters. They are left to
//     DecodeAnyway. Protobuf has no lists that are empty and not absent, so neither do the JSON
//     and the result. Bytes that are empty are absent in JSON if the API type says omitempty.
//   - A pointer where the API has a value is nil if JSON leaves the value out or has null for
//     it, and otherwise is not, even if the message has no such field. When the plan is made,
//     encoding/json shows what JSON does with a message without fields. It also shows the
//     result for a missing value, such as a quantity, which is "0".
//   - A struct that JSON has inline, such as the source of a volume, is a separate message in
//     protobuf, whose fields are decoded into the same struct.
//   - The few types of apimachinery with a custom encoding (leaves) are decoded by their own
//     code. Then everything is removed from the value that JSON would not keep, such as the way
//     a quantity is written. Where that is not so easy, such as for times after the year 9999,
//     it is left to DecodeAnyway.
//   - The kind of an object is not in its message. SetKind sets it, for objects that come with
//     one.
package plan

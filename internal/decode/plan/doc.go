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
//
// # Structs of a user's own
//
// A plan of [From] decodes messages of a type of the API into another struct, whose
// fields are those of the API type that have the same names in JSON. What comes out of
// the bytes of an object is what comes out of its JSON: of that which encoding/json
// writes of what the generated code makes of the bytes. Only that a plan does not see
// what is wrong with fields that it skips. DecodeAnyway goes that way, and the tests
// compare the two. It is so since
//
//   - fields of both are found by the rules of encoding/json, and each field of the
//     struct has to be one of the API type. Otherwise there is no plan: a server that
//     is newer than this program may send in JSON what the API type does not know.
//     Nor is there one if the struct, or a type in it, has methods that decode it, is
//     an interface, or is of another kind than the field, since it would be an error;
//   - scalars, slices and maps of the same kinds are the same values in both formats,
//     but for texts that are not UTF-8, whose JSON has other letters. They are left to
//     DecodeAnyway. Protobuf has no lists that are empty and not absent, so neither do
//     the JSON and what comes of it; bytes that are empty are absent in JSON if the API
//     type says omitempty;
//   - a pointer where the API has a value is nil if JSON leaves the value out or has
//     null for it, and otherwise is not, even if the message has no such field. What
//     JSON does with a message without fields is asked of encoding/json when the plan is
//     made. So is what a value becomes that is missing, such as a quantity, which is
//     "0";
//   - a struct that JSON has inline, such as the source of a volume, is a message of its
//     own in protobuf, whose fields are decoded into the same struct;
//   - the few types of apimachinery that are written in a way of their own (leaves) are
//     decoded by their own code, and what JSON would not keep of the value is taken
//     away, such as the way a quantity is written. Where that is not so easy, such as
//     for times after the year 9999, it is left to DecodeAnyway;
//   - the kind of an object is not in its message. SetKind sets it, for objects that
//     come with one.
package plan

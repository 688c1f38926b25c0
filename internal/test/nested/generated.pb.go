package nested

import (
	"encoding/binary"
	"errors"
)

// The name of this file marks Unmarshal as generated code.

var errNoMessage = errors.New("it is no message")

// Reset is what generated code has.
func (m *Object) Reset() { *m = Object{} }

// Unmarshal decodes a message as generated code does. It is never inlined: in an inlined copy, the
// objects of a map may be on the stack, and the cost of a message would depend on its depth.
//
//go:noinline
func (m *Object) Unmarshal(data []byte) error {
	return fields(data, func(field uint64, number uint64, value []byte) error {
		switch field {
		case 1:
			return m.ObjectMeta.Unmarshal(value)
		case 2:
			m.Text = string(value)
		case 3:
			if m.Next == nil {
				m.Next = &Object{}
			}
			return m.Next.Unmarshal(value)
		case 4:
			m.Children = append(m.Children, Object{})
			return m.Children[len(m.Children)-1].Unmarshal(value)
		case 5:
			if m.ByName == nil {
				m.ByName = map[string]Object{}
			}
			key, made := "", &Object{}
			err := fields(value, func(field uint64, _ uint64, value []byte) error {
				if field == 1 {
					key = string(value)
					return nil
				}
				return made.Unmarshal(value)
			})
			m.ByName[key] = *made
			return err
		case 6:
			return m.text(value)
		case 7:
			m.Bytes = append(m.Bytes[:0], value...)
			if m.Bytes == nil {
				m.Bytes = []byte{}
			}
		case 8:
			m.Numbers = append(m.Numbers, int64(number))
		}
		return nil
	})
}

func (m *Object) text(data []byte) error {
	if m.Texts == nil {
		m.Texts = map[string]string{}
	}
	var of [3]string
	err := fields(data, func(field uint64, _ uint64, value []byte) error {
		of[field%3] = string(value)
		return nil
	})
	m.Texts[of[1]] = of[2]
	return err
}

// fields calls a function for each field of a message.
func fields(data []byte, one func(field, number uint64, value []byte) error) error {
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return errNoMessage
		}
		number, size := binary.Uvarint(data[n:])
		if data = data[n:]; size <= 0 {
			return errNoMessage
		}
		data = data[size:]
		var value []byte
		switch {
		case tag&7 == 2 && number <= uint64(len(data)):
			value, data = data[:number], data[number:]
		case tag&7 != 0:
			return errNoMessage
		}
		if err := one(tag>>3, number, value); err != nil {
			return err
		}
	}
	return nil
}

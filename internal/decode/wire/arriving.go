package wire

import (
	"io"
	"slices"
)

// readArriving reads n bytes into the memory of buf, or into more. It allocates as they arrive:
// a length is believed when as much has come. The result is not nil, and shorter than n if
// there is an error, io.ErrUnexpectedEOF at the end of r.
func readArriving(r io.Reader, buf []byte, n int) ([]byte, error) {
	if buf == nil {
		buf = make([]byte, 0, min(max(n, 512), firstRead))
	}
	buf = buf[:0]
	for len(buf) < n {
		size := min(n, max(cap(buf), 2*len(buf)))
		buf = slices.Grow(buf, size-len(buf))
		read, err := io.ReadFull(r, buf[len(buf):size])
		buf = buf[:len(buf)+read]
		if err != nil {
			return buf, within(err)
		}
	}
	return buf, nil
}

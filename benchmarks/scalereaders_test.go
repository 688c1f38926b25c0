package benchmarks

import (
	"fmt"
	"sync"
	"testing"
)

// BenchmarkScaleReaders varies the number of readers of ReadersVsWriter.
func BenchmarkScaleReaders(b *testing.B) {
	of := sync.OnceValue(readSample)
	for _, readers := range []int{0, 1, 2, 8, 32, 80} {
		for _, s := range twoSides {
			benchmarkReaders(b, fmt.Sprintf("readers=%d/impl=%s", readers, s.impl), s, of, readers)
		}
	}
}

package benchmarks

import (
	"testing"
	"time"
)

// othersWork is more than the caches of a processor have, in bytes.
const othersWork = 40 << 20

// BenchmarkDecodeUpdateCold measures decoding an event of a watch, as BenchmarkDecodeUpdate does, in a
// process whose memory is in no cache any more: between two events, the benchmark writes to 40 MB, as
// a server on the same machine may. Most of the time, both sides wait for memory. An operation is one
// update; cold-ns/op is the time without that of the writes.
func BenchmarkDecodeUpdateCold(b *testing.B) {
	eachDecodePoint(b, func(b *testing.B, p decodePoint, side func(testing.TB) decoder) {
		if p.perApp != perApps[0] {
			b.Skip("one size is enough")
		}
		d, held := side(b), make([]any, updatedPods)
		for i, item := range p.items(b, updatedPods) {
			obj, err := d.item(item)
			if err != nil {
				b.Fatal(err)
			}
			held[i] = obj
		}
		next, others := d.events(p.updates(b, updatedPods)), make([]byte, othersWork)
		took := time.Duration(0)
		for n := 0; b.Loop(); n++ {
			for i := 0; i < len(others); i += 64 {
				others[i]++
			}
			begun := time.Now()
			obj, err := next()
			took += time.Since(begun)
			if err != nil {
				b.Fatal(err)
			}
			held[n%updatedPods] = obj
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "cold-ns/op")
	})
}

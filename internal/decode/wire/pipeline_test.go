package wire_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/internal/decode/wire"
)

// parts are frames whose text is their number.
type parts struct {
	numbers []int
	sizes   func(n int) int // of each; nil: as long as the number
	err     error           // at the end; nil: io.EOF
	read    atomic.Int64    // how many were read
	hold    chan struct{}   // closed to let the end come; nil: at once
	behind  func(n int) int // how many bytes have arrived behind each; nil: many
	offset  int64
	last    int
}

func (p *parts) Next() ([]byte, error) {
	p.offset += int64(p.last)
	n := int(p.read.Load())
	if n == len(p.numbers) {
		if p.hold != nil {
			<-p.hold
		}
		if p.err != nil {
			return nil, p.err
		}
		return nil, io.EOF
	}
	p.read.Add(1)
	text := []byte(strconv.Itoa(p.numbers[n]))
	if p.sizes != nil {
		text = append(text, make([]byte, p.sizes(n))...)
	}
	p.last = len(text)
	return text, nil
}

func (p *parts) Offset() int64 { return p.offset }

func (p *parts) Buffered() int {
	n := int(p.read.Load())
	switch {
	case n == len(p.numbers):
		return 0
	case p.behind != nil:
		return p.behind(n)
	}
	return 1 << 20
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

func number(text []byte) (int, error) {
	for i, c := range text {
		if c == 0 {
			text = text[:i]
			break
		}
	}
	return strconv.Atoi(string(text))
}

func nothing() {}

// TestOrderOfResults decodes with any number of goroutines, frames of any size,
// and some that cannot be decoded.
func TestOrderOfResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		count := rapid.IntRange(0, 300).Draw(t, "count")
		size := rapid.SampledFrom([]int{0, 10, 5_000, 40_000}).Draw(t, "size")
		bad := rapid.SampledFrom([]int{-1, 0, 1, count / 2, count - 1}).Draw(t, "bad")
		stop := rapid.SampledFrom([]int{-1, 0, count / 3}).Draw(t, "stop")
		cutOff := rapid.Bool().Draw(t, "cut off")

		frames := &parts{numbers: upTo(count), sizes: func(n int) int { return (n * 7919) % (size + 1) }}
		frames.behind = rapid.SampledFrom([]func(int) int{
			nil,
			func(int) int { return 0 },
			func(n int) int { return n * 7919 % 12_000 },
		}).Draw(t, "behind")
		if cutOff {
			frames.err = io.ErrUnexpectedEOF
		}
		aborted := atomic.Bool{}
		var emitted []int
		errBad := errors.New("bad")
		err := wire.NewPipeline(limit, func(frame []byte) (int, error) {
			n, err := number(frame)
			if n == bad {
				return 0, errBad
			}
			return n, err
		}, func(n int) bool {
			emitted = append(emitted, n)
			return n != stop
		}, func() { aborted.Store(true) }).Run(frames)

		want, early := count, true
		switch failed := bad >= 0 && bad < count; {
		case stop >= 0 && stop < count && (!failed || stop < bad):
			want = stop + 1
			assert.ErrorIs(t, err, wire.ErrStopped)
		case failed:
			want = bad
			var frame *wire.FrameError
			if assert.ErrorAs(t, err, &frame) {
				assert.ErrorIs(t, err, errBad)
				assert.Equal(t, bad+1, frame.Frame)
			}
		case cutOff:
			early = false
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		default:
			early = false
			assert.NoError(t, err)
		}
		assert.Equal(t, upTo(want), append([]int{}, emitted...))
		if limit > 1 {
			assert.True(t, early || !aborted.Load())
		}
	})
}

// TestFewFramesStartNoDecoder: the goroutine that reads decodes a frame itself if less than 8 KiB has
// arrived behind it.
func TestFewFramesStartNoDecoder(t *testing.T) {
	for arrived, handedOver := range map[int]bool{0: false, 8<<10 - 1: false, 8 << 10: true} {
		reader := goroutineName()
		var others atomic.Int64
		emitted := 0
		frames := &parts{numbers: upTo(50), behind: func(int) int { return arrived }}
		require.NoError(t, wire.NewPipeline(4, func(frame []byte) (int, error) {
			if goroutineName() != reader {
				others.Add(1)
			}
			return number(frame)
		}, func(int) bool { emitted++; return true }, nothing).Run(frames))
		assert.Equal(t, 50, emitted)
		assert.Equal(t, handedOver, others.Load() > 0, "%d bytes behind", arrived)
	}
}

// goroutineName returns the name of the goroutine in traces.
func goroutineName() string {
	name, _, _ := strings.Cut(string(debug.Stack()), " [")
	return name
}

// TestDecodesAtOnce: as many frames as there are decoders are decoded at the same
// time, and no more.
func TestDecodesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 4
		var atOnce atomic.Int64
		goOn := make(chan struct{})
		var results []int
		var running sync.WaitGroup
		running.Go(func() {
			assert.NoError(t, wire.NewPipeline(limit, func(frame []byte) (int, error) {
				atOnce.Add(1)
				defer atOnce.Add(-1)
				<-goOn
				return number(frame)
			}, func(n int) bool {
				results = append(results, n)
				return true
			}, nothing).Run(&parts{numbers: upTo(100)}))
		})
		synctest.Wait()
		assert.EqualValues(t, limit, atOnce.Load())
		close(goOn)
		running.Wait()
		assert.Equal(t, upTo(100), results)
	})
}

// TestResultsAreNotHeldBack: what has been decoded is emitted, though the next
// frame does not come.
func TestResultsAreNotHeldBack(t *testing.T) {
	for limit := 1; limit <= 3; limit++ {
		synctest.Test(t, func(t *testing.T) {
			frames := &parts{numbers: upTo(10), hold: make(chan struct{})}
			var emitted atomic.Int64
			var running sync.WaitGroup
			running.Go(func() {
				assert.NoError(t, wire.NewPipeline(limit, number, func(int) bool {
					emitted.Add(1)
					return true
				}, nothing).Run(frames))
			})
			synctest.Wait()
			assert.EqualValues(t, 10, emitted.Load())
			close(frames.hold)
			running.Wait()
		})
	}
}

// TestResultsAreDropped: a pipeline whose next frame does not come refers to none of the results
// that it has emitted.
func TestResultsAreDropped(t *testing.T) {
	for limit := 1; limit <= 3; limit++ {
		for behind := range 2 {
			synctest.Test(t, func(t *testing.T) {
				frames := &parts{numbers: upTo(10), hold: make(chan struct{}), behind: func(int) int { return behind << 20 }}
				var emitted []weak.Pointer[[64]byte]
				var running sync.WaitGroup
				running.Go(func() {
					decode := func([]byte) (*[64]byte, error) { return new([64]byte), nil }
					assert.NoError(t, wire.NewPipeline(limit, decode, func(result *[64]byte) bool {
						emitted = append(emitted, weak.Make(result))
						return true
					}, nothing).Run(frames))
				})
				synctest.Wait()
				runtime.GC()
				assert.Len(t, emitted, 10)
				for _, result := range emitted {
					assert.Nil(t, result.Value())
				}
				close(frames.hold)
				running.Wait()
			})
		}
	}
}

// TestMemoryUnderWay: nothing is read while too much has not been taken.
func TestMemoryUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, size = 2, 10_000
		frames := &parts{numbers: upTo(1000), sizes: func(int) int { return size }}
		taken := make(chan struct{})
		var running sync.WaitGroup
		running.Go(func() {
			assert.NoError(t, wire.NewPipeline(limit, number, func(int) bool {
				<-taken
				return true
			}, nothing).Run(frames))
		})
		synctest.Wait()
		most := int64(limit*256<<10/size + 2)
		assert.LessOrEqual(t, frames.read.Load(), most)
		assert.Greater(t, frames.read.Load(), most/2)
		close(taken)
		running.Wait()
		assert.EqualValues(t, 1000, frames.read.Load())
	})
}

// TestEndWhileReading: when results are refused or cannot be decoded, or a decoder panics, abort
// ends a read that would wait for ever.
func TestEndWhileReading(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	t.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers })
	for name, decode := range map[string]func([]byte) (int, error){
		"refused":   number,
		"undecoded": func([]byte) (int, error) { return 0, io.ErrNoProgress },
		"panicked": func([]byte) (int, error) {
			time.Sleep(time.Second) // until the read waits
			panic("as the test wants it")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				frames := &parts{numbers: upTo(3), hold: make(chan struct{}), err: io.ErrClosedPipe}
				once := sync.OnceFunc(func() { close(frames.hold) })
				err := wire.NewPipeline(2, decode, func(int) bool { return false }, once).Run(frames)
				require.Error(t, err)
				assert.NotErrorIs(t, err, io.ErrClosedPipe, "that is the consequence, and not the cause")
			})
		})
	}
}

func BenchmarkPipeline(b *testing.B) {
	for _, limit := range []int{1, 2} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			b.ReportAllocs()
			frames := &parts{numbers: upTo(b.N), sizes: func(int) int { return 2000 }}
			if err := wire.NewPipeline(limit, func(frame []byte) (int, error) { return len(frame), nil }, func(int) bool { return true }, nothing).Run(frames); err != nil {
				b.Fatal(err)
			}
		})
	}
}

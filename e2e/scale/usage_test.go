package main

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStopwatchSeparatesWorkFromWaiting(t *testing.T) {
	watch, err := startStopwatch()
	require.NoError(t, err)
	time.Sleep(50 * time.Millisecond) // the real clock is what this is about
	idle, err := watch.read()
	require.NoError(t, err)
	for time.Since(watch.begin) < 150*time.Millisecond {
	}
	busy, err := watch.read()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, busy.Took, 150*time.Millisecond)
	assert.Greater(t, busy.CPU, idle.CPU)
}

func TestPeakMemoryGrowsWithUse(t *testing.T) {
	before, err := peakMemory()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, before, int64(os.Getpagesize()))
	const much = 256 << 20
	memory := make([]byte, much)
	for i := 0; i < much; i += os.Getpagesize() {
		memory[i] = 1
	}
	after, err := peakMemory()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, after, before+much/2)
	runtime.KeepAlive(memory)
}

func TestLiveHeapIsReachable(t *testing.T) {
	before := liveHeap()
	const much = 32 << 20
	memory := make([]byte, much)
	assert.InDelta(t, before+much, liveHeap(), much/8)
	runtime.KeepAlive(memory)
	memory = nil
	assert.InDelta(t, before, liveHeap(), much/8)
	_ = memory
}

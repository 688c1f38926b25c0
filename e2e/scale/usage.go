package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// stopwatch measures time, and the CPU time of this process.
type stopwatch struct {
	begin time.Time
	cpu   time.Duration
}

func startStopwatch() (stopwatch, error) {
	cpu, err := cpuTime()
	return stopwatch{begin: time.Now(), cpu: cpu}, err
}

// read returns the time and the CPU time since the start, and the peak of memory.
func (s stopwatch) read() (u usage, err error) {
	u.Took = time.Since(s.begin)
	cpu, err := cpuTime()
	if err != nil {
		return usage{}, err
	}
	u.CPU = cpu - s.cpu
	u.Peak, err = peakMemory()
	return u, err
}

// cpuTime returns the CPU time of this process, in user and kernel mode.
func cpuTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("read the CPU time of this process: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}

// peakMemory returns the most bytes of resident memory that this process has had. Getrusage
// returns that too, but begins with the memory of the process that started this one.
func peakMemory() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("read the peak of resident memory: %w", err)
	}
	for line := range bytes.Lines(status) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(string(line), "VmHWM: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10, nil
		}
	}
	return 0, errors.New("read the peak of resident memory: /proc/self/status has no VmHWM")
}

// liveHeap returns the bytes of live objects. The second collection takes what
// the first one left in pools.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

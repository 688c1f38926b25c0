package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
)

// profiles writes profiles of a side into a folder, or none if that is "".
type profiles struct{ dir, side string }

// startCPU starts a CPU profile; stop ends and writes it.
func (p profiles) startCPU(name string) (stop func() error, err error) {
	if p.dir == "" {
		return func() error { return nil }, nil
	}
	file, err := p.create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(fmt.Errorf("profile: %w", err), file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}

// heap writes a profile of the heap as it was at the last collection, and of all allocations
// until then.
func (p profiles) heap() error {
	if p.dir == "" {
		return nil
	}
	file, err := p.create("heap")
	if err != nil {
		return err
	}
	return errors.Join(pprof.WriteHeapProfile(file), file.Close())
}

func (p profiles) create(name string) (*os.File, error) {
	file, err := os.Create(filepath.Join(p.dir, p.side+"."+name+".pprof"))
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	return file, nil
}

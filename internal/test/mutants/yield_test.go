package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLocksYield(t *testing.T) {
	got, err := withYields("a.go", `package a

func f() {
	mu.Lock()
	defer mu.Unlock()
	for { // as it is
		a.b.RLock(); g()
		a.b.RUnlock()
	}
	x.Lock(1)
	h := x.Unlock
}
`)
	require.NoError(t, err)
	assert.Equal(t, `package a

func f() {
	mutantYield(); mu.Lock()
	defer mutantYield(); defer mu.Unlock()
	for { // as it is
		mutantYield(); a.b.RLock(); g()
		a.b.RUnlock(); mutantYield()
	}
	x.Lock(1)
	h := x.Unlock
}
`, got)
}

func TestMutatedFilesYield(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "queue", "a.go")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("package queue\n\nfunc f() {\n\tmu.Lock()\n\tx = 1\n}\n"), 0o600))
	files, err := overlay(folder, []mutation{{bug: "two", in: "queue.f", old: "x = 1", new: "x = 2"}})
	require.NoError(t, err)
	assert.Equal(t, "package queue\n\nfunc f() { if mutantNumber == \"1\" { fmutant1(); return }; \n\tmutantYield(); mu.Lock()\n\tx = 1\n}\n\n"+
		"func fmutant1() {\n\tmutantYield(); mu.Lock()\n\tx = 2\n}\n", files[file])
	assert.Contains(t, files[filepath.Join(folder, "queue", "mutantnumber.go")], "func mutantYield()")
	assert.Len(t, files, 2, "a file that has nothing to change is left alone")
}

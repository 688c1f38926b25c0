//go:build !race

package lister_test

const raceEnabled = false

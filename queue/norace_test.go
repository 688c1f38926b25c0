//go:build !race

package queue

const RaceEnabled = false

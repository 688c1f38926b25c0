package cluster

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

func appName(app int) string { return fmt.Sprintf("service-%05d", app) }

func tierOf(app int) string {
	return strings.Clone([...]string{"frontend", "backend", "data"}[app%3])
}

// PodName returns the name of Pod number i, of an application.
func PodName(app, i int) string {
	return appName(app) + "-" + templateHash(app) + "-" + suffix(i)
}

// NamespaceName returns the name of namespace number n, counted from 0.
func NamespaceName(n int) string { return fmt.Sprintf("team-%02d", n) }

// NodeName returns the name of node number n, counted from 0.
func NodeName(n int) string { return fmt.Sprintf("ip-10-0-%d-%d.ec2.internal", n/250, n%250) }

func templateHash(app int) string { return encode(splitmix(uint64(app)), 10) }

// suffix returns what a ReplicaSet adds to the names of its Pods. The factor has
// no divisor in common with 27^5, so no two numbers give the same.
func suffix(i int) string { return encode(uint64(i)*7_368_787%(27*27*27*27*27), 5) }

// encode returns n in the letters that Kubernetes uses for generated names.
func encode(n uint64, length int) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, length)
	for i := range b {
		b[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(b)
}

func uidOf(i int) types.UID {
	a, b := splitmix(uint64(i)), splitmix(uint64(i)+1<<32)
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&(1<<48-1)))
}

// splitmix is a hash of 64 bits: the generator SplitMix64 of Steele, Lea and
// Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

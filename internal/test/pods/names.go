package pods

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

var (
	nouns = []string{"auth", "billing", "cart", "catalog", "checkout", "frontend", "mail", "orders", "payments", "search", "shipping", "stock"}
	roles = []string{"api", "worker", "web", "gateway", "cache", "reports", "admin", "sync"}
	tiers = []string{"web", "service", "batch"}
)

// AppName returns the name of application number n, counted from 0.
func AppName(n int) string {
	name := nouns[n%len(nouns)] + "-" + roles[n/len(nouns)%len(roles)]
	if round := n / (len(nouns) * len(roles)); round > 0 {
		name = fmt.Sprintf("%s-%02d", name, round)
	}
	return name
}

// Name returns the name of Pod number i, of application number n, in a cluster whose seed
// is 0.
func Name(n, i int) string { return pod{app: app{number: n}, i: i}.name() }

// Tier returns the tier of application number n.
func Tier(n int) string { return tiers[n%len(tiers)] }

// NodeName returns the name of Node number n, counted from 0.
func NodeName(n int) string { return fmt.Sprintf("ip-10-0-%d-%d.ec2.internal", n/250, n%250+4) }

// nodeIP returns the address of Node number n.
func nodeIP(n int) string { return fmt.Sprintf("10.0.%d.%d", n/250, n%250+4) }

// podIP returns the address of Pod number i, which no other has.
func podIP(i int) string { return fmt.Sprintf("10.%d.%d.%d", 64+i>>16, i>>8&255, i&255) }

// suffix returns what a ReplicaSet adds to the names of its Pods. The factor has
// no divisor in common with 27^5, so no two numbers below that give the same.
func suffix(n uint64) string { return letters(n*7_368_787%(27*27*27*27*27), 5) }

// letters returns n in the letters that Kubernetes uses for generated names.
func letters(n uint64, length int) string {
	const all = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, length)
	for i := range b {
		b[i] = all[n%uint64(len(all))]
		n /= uint64(len(all))
	}
	return string(b)
}

// hash returns 64 hexadecimal digits, as digests and IDs of containers have.
func hash(x uint64) string {
	return fmt.Sprintf("%016x%016x%016x%016x", splitmix(x), splitmix(x+1), splitmix(x+2), splitmix(x+3))
}

func uid(x uint64) types.UID {
	a, b := splitmix(x), splitmix(x+1)
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

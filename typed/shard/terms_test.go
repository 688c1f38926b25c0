package shard

import "regexp"

var term = regexp.MustCompile(`shardRange\([^,]*, '(0x[0-9a-f]+)', '(0x[0-9a-f]+)'\)`)

// terms returns the bounds that a selector names.
func terms(selector string) (bounds [][2]string) {
	for _, m := range term.FindAllStringSubmatch(selector, -1) {
		bounds = append(bounds, [2]string{m[1], m[2]})
	}
	return bounds
}

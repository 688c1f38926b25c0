package view

import "strings"

// joinVersions is the version of a view whose inputs are at the given ones, "" if one is not
// known. That of a single input is its own.
func joinVersions(versions []string) string {
	if len(versions) == 1 {
		return versions[0]
	}
	var b strings.Builder
	size := 0
	for _, v := range versions {
		size += len(v) + len("(),")
	}
	b.Grow(size)
	for i, v := range versions {
		if v == "" {
			return ""
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if strings.ContainsAny(v, ",()") {
			b.WriteByte('(')
			b.WriteString(v)
			b.WriteByte(')')
		} else {
			b.WriteString(v)
		}
	}
	return b.String()
}

// splitVersion returns the versions of a number of inputs that were joined, nil if these are
// none.
func splitVersion(version string, inputs int) []string {
	if inputs == 1 {
		return []string{version}
	}
	var versions []string
	depth, begin := 0, 0
	for i := range len(version) + 1 {
		switch {
		case i == len(version) || depth == 0 && version[i] == ',':
			one := version[begin:i]
			if inner, ok := strings.CutPrefix(one, "("); ok {
				one = strings.TrimSuffix(inner, ")")
			}
			versions, begin = append(versions, one), i+1
		case version[i] == '(':
			depth++
		case version[i] == ')':
			depth--
		}
	}
	if len(versions) != inputs || depth != 0 {
		return nil
	}
	return versions
}

package cachemutation

import (
	"go/types"
	"maps"
	"slices"
	"strings"
)

// content is what a part of local memory holds: references, or a copy of a struct.
type content struct {
	refs      refs
	reference bool
}

// memory describes the memory that a function made itself, part by part. Memory
// without content is the function's own.
type memory map[place]content

// find returns the content of the smallest part known that includes p, and the rest of
// the path within it.
func (m memory) find(p place) (c content, rest string, ok bool) {
	for prefix := p.path; ; {
		if c, ok = m[place{p.root, prefix}]; ok {
			rest, _ = after(p.path, prefix)
			return c, rest, true
		}
		if prefix == "" {
			return content{}, "", false
		}
		i := strings.LastIndexByte(prefix, '.')
		prefix = prefix[:max(i, 0)]
	}
}

// load returns the value that is read from a place.
func (m memory) load(p place, t types.Type) refs {
	return m.loadAs(p, isReference(t), 0)
}

func (m memory) loadAs(p place, reference bool, depth int) refs {
	c, rest, ok := m.find(p)
	if !ok && p.root.kind != local {
		if reference {
			p.path = join(p.path, "*")
		}
		return refs{{place: p}}
	}
	if !ok || depth > 6 || c.reference && rest != "" {
		return nil
	}
	if rest == "" && c.reference == reference {
		return c.refs
	}
	var out refs
	for _, one := range c.refs {
		from := place{one.root, joinAll(one.path, rest)}
		if from == p {
			continue
		}
		loaded := m.loadAs(from, reference, depth+1)
		if !reference && len(loaded) == 0 && from.root.kind == local && m.hasParts(from) {
			loaded = refs{{place: from}}
		}
		out = out.add(loaded.under(one.when)...)
	}
	return out
}

// hasParts reports whether parts of a place are known apart.
func (m memory) hasParts(p place) bool {
	for q := range m {
		if rest, ok := after(q.path, p.path); q.root == p.root && ok && rest != "" {
			return true
		}
	}
	return false
}

// owns reports whether a value leads to memory of the function alone.
func (m memory) owns(value refs) bool {
	return !slices.ContainsFunc(value, func(one ref) bool {
		return one.root.kind != local || slices.ContainsFunc(m.parts(one.place), func(p place) bool { return len(m[p].refs) > 0 })
	})
}

// parts returns the places within one whose content is known, in order.
func (m memory) parts(of place) (all []place) {
	for q := range m {
		if _, ok := after(q.path, of.path); q.root == of.root && ok {
			all = append(all, q)
		}
	}
	slices.SortFunc(all, func(a, b place) int { return strings.Compare(a.path, b.path) })
	return all
}

// store replaces the content of a place, or adds to it.
func (m memory) store(p place, c content, replace bool) {
	if replace {
		m.forget(p)
	} else {
		had := m.loadAs(p, c.reference, 0)
		c.refs = slices.Clone(had).add(c.refs...)
	}
	if strings.HasSuffix(p.path, below) {
		return
	}
	m[p] = c
}

// forget removes the descriptions of the parts of a place.
func (m memory) forget(p place) {
	maps.DeleteFunc(m, func(q place, _ content) bool {
		_, ok := after(q.path, p.path)
		return q.root == p.root && ok
	})
}

// copyParts gives the place to the parts that are known of the place from.
func (m memory) copyParts(to *root, from place) {
	parts := memory{}
	if c, rest, ok := m.find(from); ok && rest == "" {
		parts[place{to, ""}] = c
	} else if ok && !c.reference {
		inner := content{}
		for _, one := range c.refs {
			inner.refs = inner.refs.add(ref{place{one.root, joinAll(one.path, rest)}, one.when})
		}
		parts[place{to, ""}] = inner
	}
	for q, c := range m {
		if rest, ok := after(q.path, from.path); q.root == from.root && ok {
			parts[place{to, rest}] = c
		}
	}
	m.forget(place{to, ""})
	maps.Copy(m, parts)
}

// merge adds what another path may have left in memory.
func (m memory) merge(other memory) (changed bool) {
	before := maps.Clone(m)
	for p, theirs := range other {
		ours, ok := m[p]
		if !ok {
			ours = content{before.loadAs(p, theirs.reference, 0), theirs.reference}
		}
		union := ours.refs.add(theirs.refs...)
		if !ok || !union.equal(ours.refs) {
			m[p] = content{union, theirs.reference}
			changed = true
		}
	}
	for p, ours := range before {
		if _, ok := other[p]; !ok {
			union := ours.refs.add(other.loadAs(p, ours.reference, 0)...)
			if !union.equal(ours.refs) {
				m[p] = content{union, ours.reference}
				changed = true
			}
		}
	}
	return changed
}

// walk returns the places that a path leads to from a place.
func (m memory) walk(from ref, path string) refs {
	at := refs{from}
	if path == "" {
		return at
	}
	for elem := range strings.SplitSeq(path, ".") {
		var next refs
		for _, one := range at {
			switch {
			case isAs(elem):
				next = next.add(refs{one}.asserted(elem)...)
			case elem == "*":
				next = next.add(m.loadAs(one.place, true, 0).under(one.when)...)
			case elem == below && one.root.kind == local:
			default:
				next = next.add(ref{place{one.root, join(one.path, elem)}, one.when})
			}
		}
		at = next
	}
	return at
}

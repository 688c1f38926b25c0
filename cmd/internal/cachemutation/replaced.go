package cachemutation

import (
	"strings"

	"golang.org/x/tools/go/ssa"
)

// addOwn adds the parts of results that the function has replaced in a copy of a struct: they
// are new, and not those of the copied one. With several returns of a value, none is added.
func (f *frame) addOwn() {
	returned := map[int]*ssa.Return{}
	several := map[int]bool{}
	for _, b := range f.fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		for n, v := range ret.Results {
			if len(f.values[v]) > 0 {
				several[n] = returned[n] != nil
				returned[n] = ret
			}
		}
	}
	for n, ret := range returned {
		value, left := f.values[ret.Results[n]], f.out[ret.Block()]
		if !several[n] && len(value) == 1 && value[0].root.kind == local && !left.owns(value) {
			f.addOwnParts(n, left, value[0].place)
		}
	}
}

func (f *frame) addOwnParts(n int, left memory, of place) {
	for _, q := range left.parts(of) {
		path, _ := after(q.path, of.path)
		c := left[q]
		if path != "" && !strings.Contains("."+path+".", ".[].") && left.owns(c.refs) {
			f.summary.addResult(Result{Index: n, Cell: true, Path: path, Reference: c.reference, Param: -1, Own: true})
		}
	}
}

// replaceOwn forgets the content of the parts of results that the function has replaced.
func (f *frame) replaceOwn(sum *Summary, made map[int]*root) {
	for _, r := range sum.Results {
		if r.Own && made[r.Index] != nil {
			f.mem[place{made[r.Index], r.Path}] = content{reference: r.Reference}
		}
	}
}

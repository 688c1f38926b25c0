package cachemutation

import (
	"fmt"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

const and = " & "

// given returns which constants parameters equal, or do not equal, whenever the conditions
// and those of the block hold. Callers that pass other constants are not concerned.
func (f *frame) given(when []cond) string {
	var all []string
	for _, c := range slices.Concat(f.conditions(f.block), when) {
		if one := f.compared(c); one != "" {
			all = append(all, one)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), and)
}

// compared returns what a condition says of a parameter and a constant, or nothing.
func (f *frame) compared(c cond) string {
	v, want := c.tested, c.want
	for {
		not, ok := v.(*ssa.UnOp)
		if !ok || not.Op != token.NOT {
			break
		}
		v = not.X // describe has turned the condition around
	}
	if p, ok := v.(*ssa.Parameter); ok {
		return f.equals(p, "true", want)
	}
	b, ok := v.(*ssa.BinOp)
	if !ok || b.Op != token.EQL && b.Op != token.NEQ {
		return ""
	}
	for _, side := range [][2]ssa.Value{{b.X, b.Y}, {b.Y, b.X}} {
		p, isParam := side[0].(*ssa.Parameter)
		c, isConst := side[1].(*ssa.Const)
		if isParam && isConst {
			return f.equals(p, constant(c), want)
		}
	}
	return ""
}

func (f *frame) equals(p *ssa.Parameter, value string, want bool) string {
	i := slices.Index(f.fn.Params, p)
	if i < 0 || len(value) > 40 || strings.Contains(value, and) {
		return ""
	}
	return fmt.Sprintf("%d %t %s", i, want, value)
}

func constant(c *ssa.Const) string {
	if c.Value == nil {
		return "nil"
	}
	return c.Value.ExactString()
}

// excluded reports whether a call passes constants with which what was given does not hold.
func excluded(given string, args []ssa.Value) bool {
	if given == "" {
		return false
	}
	for one := range strings.SplitSeq(given, and) {
		index, rest, _ := strings.Cut(one, " ")
		want, value, _ := strings.Cut(rest, " ")
		i, err := strconv.Atoi(index)
		if err != nil || i >= len(args) {
			continue
		}
		if c, ok := args[i].(*ssa.Const); ok && (constant(c) == value) != (want == "true") {
			return true
		}
	}
	return false
}

// with returns what of a summary holds of a call with its arguments.
func (s *Summary) with(args []ssa.Value) *Summary {
	if s == nil {
		return nil
	}
	out := &Summary{Calls: s.Calls}
	for _, w := range s.Writes {
		if !excluded(w.Given, args) {
			out.Writes = append(out.Writes, w)
		}
	}
	for _, r := range s.Results {
		if !excluded(r.Given, args) {
			out.Results = append(out.Results, r)
		}
	}
	return out
}

// flagsOf returns which results of a function are flags that are known if conditions hold.
func flagsOf(results []ssa.Value, when []cond) string {
	var all []string
	for i, v := range results {
		if want, ok := flagOf(v, when); ok {
			all = append(all, fmt.Sprintf("%d %t", i, want))
		}
	}
	return strings.Join(all, and)
}

// conditionsOf returns flags of a function as conditions on the results of a call.
func conditionsOf(flags string, call *ssa.Call) (all []cond) {
	for _, use := range *call.Referrers() {
		v, ok := use.(*ssa.Extract)
		if !ok {
			continue
		}
		for one := range strings.SplitSeq(flags, and) {
			index, want, _ := strings.Cut(one, " ")
			if index == strconv.Itoa(v.Index) {
				all = append(all, cond{v.Name(), want == "true", call.Block(), v})
			}
		}
	}
	return all
}

package cachemutation

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/kubetyped/informer/cmd/internal/kube"
)

// writesTo lists the functions that write to what an argument refers to by reflection or in
// ways that summaries do not show: the number of the argument, and the path.
var writesTo = map[string]struct {
	arg  int
	path string
}{
	"sort.Slice":                       {0, "[]"},
	"sort.SliceStable":                 {0, "[]"},
	"sort.Sort":                        {0, "[]"},
	"sort.Stable":                      {0, "[]"},
	"sort.Strings":                     {0, "[]"},
	"sort.Ints":                        {0, "[]"},
	"encoding/json.Unmarshal":          {1, below},
	"sigs.k8s.io/yaml.Unmarshal":       {1, below},
	"sigs.k8s.io/yaml.UnmarshalStrict": {1, below},
	"(*encoding/json.Decoder).Decode":  {1, below},
	"maps.Copy":                        {0, "[]"},
	"maps.DeleteFunc":                  {0, "[]"},
	"k8s.io/apimachinery/pkg/util/json.Unmarshal": {1, below},
}

// sameElements lists the functions whose result is, or may be, the memory of the first
// argument.
var sameElements = map[string]bool{
	"slices.Clip": true, "slices.Delete": true, "slices.DeleteFunc": true,
	"slices.Compact": true, "slices.CompactFunc": true, "slices.Grow": true,
}

// reorders lists the functions of package slices that write to their first argument.
var reorders = map[string]bool{
	"slices.Sort": true, "slices.SortFunc": true, "slices.SortStableFunc": true, "slices.Reverse": true,
	"slices.Delete": true, "slices.DeleteFunc": true, "slices.Compact": true, "slices.CompactFunc": true,
}

// copiesElements lists the functions whose result is new, with the elements of the first
// argument.
var copiesElements = map[string]bool{"slices.Clone": true, "maps.Clone": true}

// copies lists the functions of apimachinery that write to their argument only if they are
// called in another way: a flag of those below them says that they copy.
var copies = map[string]bool{
	"(*k8s.io/apimachinery/pkg/runtime.Scheme).Convert": true, "(*k8s.io/apimachinery/pkg/runtime.Scheme).ConvertToVersion": true,
	"(k8s.io/apimachinery/pkg/runtime.ObjectConvertor).Convert": true, "(k8s.io/apimachinery/pkg/runtime.ObjectConvertor).ConvertToVersion": true,
	"(k8s.io/apimachinery/pkg/runtime.ObjectVersioner).ConvertToVersion": true,
}

// contents lists the functions whose result is the map of an argument, if that is an
// Unstructured, and the number of the argument.
var contents = map[string]int{
	"(k8s.io/apimachinery/pkg/runtime.UnstructuredConverter).ToUnstructured":  1,
	"(*k8s.io/apimachinery/pkg/runtime.unstructuredConverter).ToUnstructured": 1,
	"(k8s.io/apimachinery/pkg/runtime.Unstructured).UnstructuredContent":      0,
}

// known returns the summary of functions of the standard library and of interfaces of
// apimachinery.
func (f *frame) known(obj *types.Func, args []ssa.Value) (*Summary, bool) {
	if obj == nil {
		return nil, false
	}
	name := obj.FullName()
	if i := strings.Index(name, "["); i >= 0 && obj.Signature().Recv() == nil {
		name = name[:i]
	}
	if copies[name] {
		return &Summary{}, true
	}
	if arg, ok := contents[name]; ok {
		const unstructured = "(*k8s·io/apimachinery/pkg/apis/meta/v1/unstructured·Unstructured)" // as of its type
		return &Summary{Results: []Result{{Param: arg, From: unstructured + ".Object.*"}}}, true
	}
	if w, ok := writesTo[name]; ok {
		return &Summary{Writes: []Write{{Param: w.arg, Path: w.path}}}, true
	}
	if reorders[name] || sameElements[name] || copiesElements[name] {
		sum := &Summary{}
		if reorders[name] {
			sum.Writes = []Write{{Param: 0, Path: "[]"}}
		}
		if sameElements[name] {
			sum.Results = []Result{{}}
		}
		if copiesElements[name] {
			t := elementOf(args[0].Type())
			sum.Results = []Result{{Cell: true, Path: "[]", Reference: isReference(t), From: joinAll("[]", star(t))}}
			if !holdsReferences(t) {
				sum.Results = nil
			}
		}
		return sum, true
	}
	return f.accessor(obj, args)
}

func elementOf(t types.Type) types.Type {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Map:
		return u.Elem()
	}
	return types.Typ[types.Byte]
}

func star(t types.Type) string {
	if isReference(t) {
		return "*"
	}
	return ""
}

// setters are methods of metav1.Object, which other interfaces have, too.
var setters = map[string]bool{
	"SetLabels": true, "SetAnnotations": true, "SetFinalizers": true, "SetOwnerReferences": true,
	"SetManagedFields": true, "SetResourceVersion": true, "SetDeletionTimestamp": true, "SetGenerateName": true,
}

// accessor returns the summary of methods of metav1.Object and schema.ObjectKind, called
// on an interface whose value is not known.
func (f *frame) accessor(obj *types.Func, args []ssa.Value) (*Summary, bool) {
	recv := obj.Signature().Recv()
	if recv == nil || len(args) == 0 || concrete(args[0]) != nil {
		return nil, false
	}
	if _, isInterface := recv.Type().Underlying().(*types.Interface); !isInterface {
		return nil, false
	}
	path := kube.PackagePath(obj.Pkg())
	switch {
	case setters[obj.Name()], path == kube.Meta && strings.HasPrefix(obj.Name(), "Set") && obj.Name() != "SetGroupVersionKind":
		return &Summary{Writes: []Write{{Param: 0, Path: "ObjectMeta." + obj.Name()[len("Set"):]}}}, true
	case obj.Name() == "GetObjectKind":
		return &Summary{Results: []Result{{From: "TypeMeta"}}}, true
	case obj.Name() == "SetGroupVersionKind" && path == kube.Runtime+"/schema":
		return &Summary{Writes: []Write{{Param: 0, Path: "APIVersion"}}}, true
	case obj.Name() == "GetObjectMeta":
		return &Summary{Results: []Result{{From: "ObjectMeta"}}}, true
	}
	return nil, false
}

// setter returns the summary of a method Set… of a package that is not analysed, as it is of
// another module or generated: it writes to its receiver, if that is a pointer.
func (f *frame) setter(obj *types.Func) *Summary {
	if obj == nil || obj.Pkg() == nil || obj.Pkg() == f.pass.Pkg {
		return nil
	}
	name, ok := strings.CutPrefix(obj.Name(), "Set")
	if !ok || name == "" || !token.IsExported(name) {
		return nil
	}
	recv := obj.Signature().Recv()
	if recv == nil || !isPointer(recv.Type()) || f.pass.ImportPackageFact(obj.Pkg(), new(analysed)) {
		return nil
	}
	if _, ok := table()[kube.PackagePath(obj.Pkg())]; ok {
		return nil
	}
	return &Summary{Writes: []Write{{Param: 0, Path: name}}}
}

func isPointer(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Pointer)
	return ok
}

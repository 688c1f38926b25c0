package differential

import (
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubetyped/informer/internal/decode/plan"
)

// Own runs a program of a struct as users write them for custom resources: with a plan or
// without, with methods that decode, and with itself in it.
func Own(t *testing.T, r *rand.Rand) {
	t.Helper()
	of := one(r, ownTypes)
	inJSON(t, r, of, randomMask(r, of), func() []byte {
		for {
			if text := textOf(r, of, 0); text[0] == '{' || rarely(r, 20) {
				return []byte(text)
			}
		}
	})
}

var ownTypes = []reflect.Type{
	reflect.TypeFor[ofAllKinds](), reflect.TypeFor[ofAllKinds](), reflect.TypeFor[tree](), reflect.TypeFor[tree](), reflect.TypeFor[ofNamedTypes](), reflect.TypeFor[withMethods](),
	reflect.TypeFor[embedding](), reflect.TypeFor[quoted](), reflect.TypeFor[arrays](), reflect.TypeFor[otherKeys](), reflect.TypeFor[twice](), reflect.TypeFor[pointers](),
	reflect.TypeFor[interfaces](), reflect.TypeFor[oddNames](),
}

// textOf returns a text of a type, as it should be or not quite.
func textOf(r *rand.Rand, of reflect.Type, depth int) string {
	switch {
	case rarely(r, 150):
		return one(r, oddValues)
	case rarely(r, 12):
		return "null"
	case reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()) || leafTexts[of] != nil:
		if known := leafTexts[of]; known != nil {
			return one(r, known)
		}
		return one(r, []string{`"a"`, `"a/b"`, `{"a":1}`, `{ "a" : 1 }`, `[1]`, `5`, `null`})
	}
	switch of.Kind() {
	case reflect.Bool:
		return one(r, []string{"true", "false"})
	case reflect.Float32, reflect.Float64:
		return one(r, []string{"0", "1", "1.5", "-0.0", "1e3", "-0", "1e-400"})
	case reflect.Pointer:
		return textOf(r, of.Elem(), depth)
	case reflect.Interface:
		return anyText(r, depth)
	case reflect.Slice, reflect.Array:
		if of.Elem().Kind() == reflect.Uint8 {
			return one(r, []string{`"YWJj"`, `""`, `"YWI="`, `[1,2]`, `"YW\nI="`})
		}
		return "[" + repeated(r, depth, func() string { return textOf(r, of.Elem(), depth+1) }) + "]"
	case reflect.Map:
		return "{" + repeated(r, depth, func() string {
			return one(r, []string{`"a"`, `"b"`, `"0"`, `"1"`, `"10.0.0.1"`, `"a\u0062"`}) + ":" + textOf(r, of.Elem(), depth+1)
		}) + "}"
	case reflect.Struct:
		members := memberTexts(r, of, depth)
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + strings.Join(members, ",") + "}"
	case reflect.String:
		return one(r, []string{`"a"`, `"bb"`, `"a\/b"`, `"\u00e9"`, `""`, `"x/y"`, `"a text that is longer than what is remembered of texts, which is not long"`})
	default:
		return one(r, []string{"0", "1", "127", "300", "-5", "70000", "-0"})
	}
}

// leafTexts are texts of types that decode themselves.
var leafTexts = map[reflect.Type][]string{
	reflect.TypeFor[metav1.Time]():        {`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:06Z"`, `"2026-01-02T03:04:05+01:00"`, `"2026-01-02T03:04:05.5Z"`},
	reflect.TypeFor[metav1.MicroTime]():   {`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.000001Z"`},
	reflect.TypeFor[time.Time]():          {`"2026-01-02T03:04:05Z"`},
	reflect.TypeFor[resource.Quantity]():  {`"1"`, `"100m"`, `"1Ki"`, `5`, `1.5`, `"0.5"`, `"123456789012345678901234567890"`, `""`},
	reflect.TypeFor[metav1.Duration]():    {`"1h"`, `"1m0s"`, `"x"`},
	reflect.TypeFor[intstr.IntOrString](): {`"a"`, `5`, `"80"`, `1.5`},
	reflect.TypeFor[netip.Addr]():         {`"10.0.0.1"`},
}

// repeated returns some texts, with commas between them.
func repeated(r *rand.Rand, depth int, text func() string) string {
	var all []string
	for range r.IntN(4) {
		if depth < 6 {
			all = append(all, text())
		}
	}
	return strings.Join(all, ",")
}

// anyText returns a text of any kind.
func anyText(r *rand.Rand, depth int) string {
	switch {
	case rarely(r, 2) || depth > 5:
		return one(r, []string{`"a"`, "1", "1.0", "300", "70000", "1e3", "true", "null", "-0", "{}", "[]"})
	case rarely(r, 2):
		return textOf(r, reflect.TypeFor[map[string]any](), depth+1)
	default:
		return textOf(r, reflect.TypeFor[[]any](), depth+1)
	}
}

// memberTexts returns members of a struct.
func memberTexts(r *rand.Rand, of reflect.Type, depth int) (all []string) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, inline := plan.JSONName(f)
		if inline {
			all = append(all, memberTexts(r, f.Type, depth)...)
			continue
		}
		often := 2
		if of.NumField() > 20 {
			often = 6
		}
		if !rarely(r, often+2*max(0, depth-2)) {
			continue
		}
		text := textOf(r, f.Type, depth+1)
		if strings.Contains(f.Tag.Get("json"), ",string") && text[0] != '"' && text != "null" {
			text = `"` + text + `"`
		}
		all = append(all, `"`+name+`":`+text)
	}
	return all
}

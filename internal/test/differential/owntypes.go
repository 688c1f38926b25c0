package differential

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

type phase string

type ofAllKinds struct {
	object `json:",inline"`
	Spec   struct {
		S     string                                         `json:"s,omitempty"`
		P     *string                                        `json:"p"`
		I     int                                            `json:"i"`
		I8    int8                                           `json:"i8"`
		I16   *int16                                         `json:"i16"`
		I64   int64                                          `json:"i64"`
		U     uint                                           `json:"u"`
		U8    uint8                                          `json:"u8"`
		U64   *uint64                                        `json:"u64"`
		F32   float32                                        `json:"f32"`
		F64   *float64                                       `json:"f64"`
		B     bool                                           `json:"b"`
		BP    *bool                                          `json:"bp"`
		Any   any                                            `json:"any"`
		Anys  []any                                          `json:"anys"`
		AnyM  map[string]any                                 `json:"anyM"`
		Bytes []byte                                         `json:"bytes"`
		Many  [][]byte                                       `json:"many"`
		Raw   json.RawMessage                                `json:"raw"`
		RawP  *runtime.RawExtension                          `json:"rawP"`
		T     metav1.Time                                    `json:"t"`
		TP    *metav1.Time                                   `json:"tp"`
		MT    metav1.MicroTime                               `json:"mt"`
		D     *metav1.Duration                               `json:"d"`
		Q     resource.Quantity                              `json:"q"`
		QP    *resource.Quantity                             `json:"qp"`
		RL    corev1.ResourceList                            `json:"rl"`
		IS    intstr.IntOrString                             `json:"is"`
		Sel   *metav1.LabelSelector                          `json:"sel"`
		FV    *metav1.FieldsV1                               `json:"fv"`
		MM    map[string]map[phase]string                    `json:"mm"`
		MS    map[phase][]string                             `json:"ms"`
		MP    map[string]*int                                `json:"mp"`
		MB    map[string][]byte                              `json:"mb"`
		Set   map[string]struct{}                            `json:"set"`
		SSS   [][]string                                     `json:"sss"`
		PS    *[]string                                      `json:"ps"`
		UID   types.UID                                      `json:"uid"`
		G     generic[phase, int]                            `json:"g"`
		Deep  map[string]map[string]generic[string, *string] `json:"deep"`
		Skip  string                                         `json:"-"`
	} `json:"spec"`
	Status map[string]any `json:"status,omitempty"`
}

type generic[K ~string, V any] struct {
	Items map[K]V `json:"items,omitempty"`
	One   *V      `json:"one,omitzero"`
	List  []V     `json:"list"`
}

type tree struct {
	object `json:",inline"`
	Spec   branch `json:"spec"`
	Status *branch
}

type branch struct {
	Name     string            `json:"name"`
	Left     *branch           `json:"left,omitempty"`
	Children []branch          `json:"children,omitempty"`
	Pointers []*branch         `json:"pointers,omitempty"`
	ByName   map[string]branch `json:"byName,omitempty"`
	ByPhase  map[phase]*branch `json:"byPhase,omitempty"`
	Any      any               `json:"any,omitempty"`
	Lists    map[string][]any  `json:"lists,omitempty"`
}

type ofNamedTypes struct {
	object `json:",inline"`
	List   list             `json:"list"`
	Map    table            `json:"map"`
	Any    anything         `json:"any"`
	Bytes  octets           `json:"bytes"`
	Maps   map[string]table `json:"maps"`
}

type (
	list     []phase
	table    map[phase]phase
	anything any
	octets   []byte
)

// pair decodes itself.
type pair struct{ A, B string }

// UnmarshalJSON implements json.Unmarshaler.
func (p *pair) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	p.A, p.B, _ = strings.Cut(s, "/")
	return nil
}

// seen notes what it is given, null and twice, too.
type seen struct{ Texts string }

// UnmarshalJSON implements json.Unmarshaler.
func (s *seen) UnmarshalJSON(text []byte) error { s.Texts += string(text); return nil }

// counted is a map that decodes itself.
type counted map[string]int

// UnmarshalJSON implements json.Unmarshaler.
func (c *counted) UnmarshalJSON(text []byte) error {
	made := map[string]int{}
	if err := json.Unmarshal(text, &made); err != nil {
		return err
	}
	*c = counted{"count": len(made)}
	return nil
}

type withMethods struct {
	object `json:",inline"`
	P      pair             `json:"p"`
	PP     *pair            `json:"pp"`
	List   []pair           `json:"list"`
	Map    map[string]pair  `json:"map"`
	Seen   seen             `json:"seen"`
	SeenP  *seen            `json:"seenP"`
	Seens  []seen           `json:"seens"`
	SeenPs []*seen          `json:"seenPs"`
	SeenM  map[string]seen  `json:"seenM"`
	SeenPM map[string]*seen `json:"seenPM"`
	Count  counted          `json:"count"`
	CountP *counted         `json:"countP"`
}

type hidden struct {
	Inner string `json:"inner"`
	Shown *int
}

type embedding struct {
	object `json:",inline"`
	hidden
	named `json:"named"`
	Deep  struct {
		Inner
		N int
	}
}

type named struct {
	hidden `json:"hidden"`
	Sizes  []int `json:"sizes"`
}

// Inner is embedded.
type Inner struct{ M map[string]string }

// What follows has no plan.

type quoted struct {
	object `json:",inline"`
	N      int     `json:"n,string"`
	B      *bool   `json:"b,string"`
	F      float64 `json:",string"`
	L      []string
}

type arrays struct {
	object `json:",inline"`
	A      [3]int      `json:"a"`
	B      [][2]string `json:"b"`
}

type otherKeys struct {
	object `json:",inline"`
	M      map[int]string        `json:"m"`
	N      map[netip.Addr]string `json:"n"`
	A      netip.Addr            `json:"a"`
	J      json.Number           `json:"j"`
}

type twice struct {
	object `json:",inline"`
	Inner
	Same struct{ Inner } `json:"M"`
}

type pointers struct {
	object `json:",inline"`
	P      **string            `json:"p"`
	M      *map[string]*[]*int `json:"m"`
}

type interfaces struct {
	object `json:",inline"`
	S      fmt.Stringer `json:"s"`
	E      error        `json:"e"`
}

type oddNames struct {
	object `json:",inline"`
	Arrow  string `json:"a→b"`
	//lint:ignore SA5008 encoding/json reads what is not quoted as it is
	Quote  *int   `json:"a'b"`
	Umlaut string `json:"ä"`
	Marks  string `json:"!#$%&()*+-./:;<=>?@[]^_{|}~ "`
	Inner  `json:"x→y"`
}

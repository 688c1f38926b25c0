package versiontext

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type release struct{ ResourceVersion string }

func newer(a, b *corev1.Pod, m metav1.Object, r release) bool {
	if a.ResourceVersion == b.ResourceVersion || a.ResourceVersion != m.GetResourceVersion() {
		return false
	}
	if a.ResourceVersion > b.ResourceVersion { // want `compared as text`
		return true
	}
	if m.GetResourceVersion() <= "10" { // want `compared as text`
		return true
	}
	if _, err := strconv.ParseUint(a.ResourceVersion, 10, 64); err == nil { // want `a resource version is parsed`
		return true
	}
	if strings.Compare(a.ResourceVersion, "10") > 0 { // want `compared as text`
		return true
	}
	const none, one = "", "1"
	if a.ResourceVersion > "" || none < m.GetResourceVersion() || b.ResourceVersion <= none {
		return true
	}
	if one >= a.ResourceVersion { // want `compared as text`
		return true
	}
	if i := (item{}); i.GetResourceVersion() > 1 {
		return true
	}
	return r.ResourceVersion > "1" || a.Name > b.Name
}

// The versions of an item are numbers.
type item struct{}

func (item) GetResourceVersion() uint64 { return 2 }

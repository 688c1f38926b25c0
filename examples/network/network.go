package main

import (
	"fmt"
	"net/netip"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// networks is the resource of Networks.
var networks = schema.GroupVersionResource{Group: "samplecrd.k8s.io", Version: "v1", Resource: "networks"}

// Network is a custom resource: a struct with JSON tags, without generated code.
type Network struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec   NetworkSpec   `json:"spec"`
	Status NetworkStatus `json:"status"`
}

// NetworkSpec is what users ask for.
type NetworkSpec struct {
	CIDR    string `json:"cidr,omitempty"`
	Gateway string `json:"gateway,omitempty"`
}

// NetworkStatus is what the controller has found.
type NetworkStatus struct {
	Phase   string `json:"phase,omitempty"`
	Message string `json:"message,omitempty"`
}

// status returns the status that a network is to have.
func (s NetworkSpec) status() NetworkStatus {
	invalid := func(format string, args ...any) NetworkStatus {
		return NetworkStatus{Phase: "Invalid", Message: fmt.Sprintf(format, args...)}
	}
	cidr, err := netip.ParsePrefix(s.CIDR)
	if err != nil {
		return invalid("the cidr %q is none", s.CIDR)
	}
	gateway, err := netip.ParseAddr(s.Gateway)
	switch {
	case err != nil:
		return invalid("the gateway %q is no address", s.Gateway)
	case !cidr.Contains(gateway):
		return invalid("the gateway %s is not in %s", gateway, cidr)
	default:
		return NetworkStatus{Phase: "Ready"}
	}
}

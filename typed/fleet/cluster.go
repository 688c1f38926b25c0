package fleet

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"k8s.io/client-go/rest"
)

// Cluster is a cluster of a fleet.
type Cluster struct {
	// Name is what it is called, in keys of objects among others, see [Key]. It may be
	// whatever the contexts of a kubeconfig are called: anything that is printable and
	// has no space, comma, semicolon or equals sign, of up to 253 bytes.
	Name string
	// Config says how to talk to it. It must not be modified once the Cluster is in a
	// set. It may be nil if the sources of the cluster need none.
	Config *rest.Config
}

// maxName is the length of the longest DNS subdomain, which names of API objects may be.
const maxName = 253

// checkName returns what is wrong with the name of a cluster.
func checkName(name string) error {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(" ,;=\ufffd", r) }
	switch {
	case name == "":
		return errors.New("a cluster has no name")
	case len(name) > maxName:
		return fmt.Errorf("cluster %.40q…: the name has %d bytes, %d are too many", name, len(name), maxName+1)
	case strings.ContainsFunc(name, odd):
		return fmt.Errorf("cluster %q: a name has printable characters but spaces, commas, semicolons and equals signs", name)
	}
	return nil
}

// ClusterError is what a cluster of several fails with.
type ClusterError struct {
	// Cluster is its name.
	Cluster string
	// Err is the failure.
	Err error
}

// Error implements error.
func (e *ClusterError) Error() string { return fmt.Sprintf("cluster %s: %v", e.Cluster, e.Err) }

// Unwrap returns Err.
func (e *ClusterError) Unwrap() error { return e.Err }

package shard

import "fmt"

// OptionsError says that there are members of a group of the same name with other options,
// which would share objects in another way.
type OptionsError struct {
	// Own and Theirs are what differs, and Member is the identity of one that has theirs.
	Own, Theirs, Member string
}

// Error implements error.
func (e *OptionsError) Error() string {
	return fmt.Sprintf("this member has %s, and the member %s has %s; end those that differ, or give the group another name", e.Own, e.Member, e.Theirs)
}

// IdentityError says that another process, which is alive, has the identity of this one.
type IdentityError struct {
	// Identity is that of both.
	Identity string
}

// Error implements error.
func (e *IdentityError) Error() string {
	return fmt.Sprintf("another process is the member %s, and renews its Lease; every process needs an identity of its own", e.Identity)
}

// ForbiddenError says that this process lacks rights that a member needs.
type ForbiddenError struct {
	// Namespace is that of the Leases.
	Namespace string
	// Err is what the server has answered.
	Err error
}

// Error implements error. It has the Role that is missing, as YAML.
func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("%v; bind this Role to the process:\n%s", e.Err, e.Role())
}

// Role returns the Role that is missing, as YAML.
func (e *ForbiddenError) Role() string {
	return `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: shard-member
  namespace: ` + e.Namespace + `
rules:
- apiGroups: ["coordination.k8s.io"]
  resources: ["leases"]
  verbs: ["get", "list", "create", "update", "delete"]
`
}

// Unwrap returns Err.
func (e *ForbiddenError) Unwrap() error { return e.Err }

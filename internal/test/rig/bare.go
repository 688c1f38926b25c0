package rig

// Bare is an object that has nothing but a name.
type Bare string

// GetName implements index.Object.
func (b Bare) GetName() string { return string(b) }

// GetNamespace implements index.Object.
func (Bare) GetNamespace() string { return "" }

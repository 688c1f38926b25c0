package rig

// Placement is a projection of a Thing, with its names and its node only.
type Placement struct{ Namespace, Name, Node string }

// GetNamespace implements index.Object.
func (p Placement) GetNamespace() string { return p.Namespace }

// GetName implements index.Object.
func (p Placement) GetName() string { return p.Name }

// PlacementOf projects a thing.
func PlacementOf(o *Thing) Placement { return Placement{o.Namespace, o.Name, o.Node} }

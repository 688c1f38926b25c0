package helpers

import "setters"

// SetOwn writes to nothing.
func SetOwn(source *setters.Source) { _ = source.Name }

type Label struct {
	Source *setters.Source
	value  string
}

func (l *Label) SetValue(value string) { l.value = value }

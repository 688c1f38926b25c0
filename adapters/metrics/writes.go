package metrics

// collectWrites sets the metrics of the own writes that were added.
func (c *collection) collectWrites() {
	for w := range distinct(c.options.writes) {
		s, l, from := w.Status(), c.labelled(), c.from(source{of: w})
		c.add(takenWrites, from, l, float64(s.Taken))
		c.add(ignoredWrites, from, l, float64(s.Ignored))
		c.add(lateWrites, from, l, float64(s.Late))
		for reason, n := range s.LeftOut {
			c.add(leftOutWrites, c.from(source{of: w, name: reason}), c.with(l, 0, reason), float64(n))
		}
	}
}

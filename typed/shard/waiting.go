package shard

import (
	"errors"
	"fmt"
	"strings"
)

// waitsFor returns why a member waits for some ranges, nil if there are none.
func (m *member) waitsFor(missing ranges, others []*sighting) error {
	if missing.empty() {
		return nil
	}
	var dead, different, living []string
	for _, s := range others {
		switch mentions := !s.holds.or(s.wants).and(missing).empty(); {
		case s.other > 0:
			different = append(different, fmt.Sprintf("%s (%s)", s.identity, s.options))
		case mentions && s.dead:
			dead = append(dead, s.identity)
		case mentions:
			living = append(living, s.identity)
		}
	}
	var errs []error
	if unlisted := missing.and(m.coming).minus(m.listed()); !unlisted.empty() {
		errs = append(errs, fmt.Errorf("%d ranges wait until their objects are listed here", unlisted.count()))
	}
	add := func(format string, members []string) {
		if len(members) > 0 {
			errs = append(errs, fmt.Errorf(format, missing.count(), some(members)))
		}
	}
	add("%d ranges wait for members that have other options to end: %s", different)
	add("%d ranges wait until Leases are deleted of members that are dead: %s", dead)
	add("%d ranges wait for members that are to hand them over: %s", living)
	if len(errs) == 0 {
		return fmt.Errorf("%d ranges are being taken", missing.count())
	}
	return errors.Join(errs...)
}

// some returns the first three of some names, and how many there are.
func some(names []string) string {
	if len(names) <= 3 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(names[:3], ", "), len(names)-3)
}

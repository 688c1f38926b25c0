package apitest

import "strconv"

// ResourceVersion returns the resource version of the last write of any resource,
// to any server of the store.
func (s *Server) ResourceVersion() string {
	return strconv.FormatUint(s.store.Revision(), 10)
}

// Compact forgets the history up to now, of all servers of the store, and returns the resource
// version of it: lists at an earlier one, continued lists that began earlier and watches from
// an earlier one get 410 Gone, and so do open watches that have not been sent everything yet.
// Open watches that are up to date continue.
func (s *Server) Compact() string {
	return strconv.FormatUint(s.store.Compact(), 10)
}

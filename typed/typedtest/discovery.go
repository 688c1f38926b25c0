package typedtest

import "net/http"

func (s *Server) discover(w http.ResponseWriter, r *http.Request) bool { return false }

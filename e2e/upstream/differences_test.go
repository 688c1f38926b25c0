package upstream

// differences are the specs that are left out, by suite and name, with how this cache differs there
// and why.
var differences = map[suite]map[string]string{}

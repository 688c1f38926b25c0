package main

import (
	"regexp"
	"strings"
)

// failure is a test that failed, or a package that did as a whole.
type failure struct {
	pkg  string
	test string // "": the package
}

func (f failure) String() string {
	if f.test == "" {
		return f.pkg
	}
	return f.pkg + "." + f.test
}

// command returns the command that runs f alone. It keeps the flags of the original, except
// those that select tests and set how often each runs.
func (f failure) command(original []string) []string {
	command := append([]string{}, original[:2]...) // go test
	if f.test != "" {
		command = append(command, "-run", "^"+regexp.QuoteMeta(f.test)+"$")
	}
	command = append(command, "-count=1")
	flags, rest := split(original[2:], f.test != "")
	command = append(append(command, flags...), f.pkg)
	return append(command, rest...)
}

// split returns the flags of go test to keep, and the arguments after the packages: flags of the
// test binary. An argument counts as a package if it begins with a dot, or if it contains a dot
// or a slash and no flag before it waits for its value.
func split(arguments []string, alone bool) (flags, rest []string) {
	packages := false
	for i := 0; i < len(arguments); i++ {
		argument := arguments[i]
		if !strings.HasPrefix(argument, "-") {
			packages = true // of go test, whose flags' values are taken below
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(argument, "-"), "=")
		taken := []string{argument}
		if !hasValue && takesValue[name] && i+1 < len(arguments) {
			i++
			taken = append(taken, arguments[i])
		}
		switch {
		case name == "count", alone && (name == "run" || name == "skip"):
		case packages:
			rest = append(rest, taken...)
		default:
			flags = append(flags, taken...)
		}
	}
	return flags, rest
}

// takesValue are the flags that may have their value as the next argument. Flags of
// the project's own tests have it behind an equals sign.
var takesValue = map[string]bool{
	"run": true, "skip": true, "count": true, "timeout": true, "p": true, "cpu": true, "parallel": true,
	"tags": true, "bench": true, "benchtime": true, "coverprofile": true, "coverpkg": true, "covermode": true,
	"ldflags": true, "gcflags": true, "exec": true, "o": true, "vet": true, "shuffle": true, "modfile": true, "C": true,
}

var (
	failedTest    = regexp.MustCompile(`^--- FAIL: (\S+) \(`)
	failedPackage = regexp.MustCompile(`^FAIL\t(\S+)(?:\t| (\[.*\]))`)
	otherPackage  = regexp.MustCompile(`^(?:ok  |---|\?   )\t`)
	died          = regexp.MustCompile(`^(?:panic: |fatal error: |unexpected fault address|SIG)`)
)

// parse reads what go test has printed: the tests and packages that failed. If one of
// them could not be built, final says which.
func parse(output string) (failures []failure, final string) {
	var tests []string // that failed in the package whose output this is
	whole := false     // it died, so that others may not have run
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if m := failedTest.FindStringSubmatch(line); m != nil {
			tests = append(tests, m[1])
			continue
		}
		m := failedPackage.FindStringSubmatch(line)
		switch {
		case m != nil && m[2] != "":
			return nil, m[1]
		case m != nil && (whole || len(tests) == 0):
			failures = append(failures, failure{pkg: m[1]})
		case m != nil:
			for _, test := range tests {
				failures = append(failures, failure{m[1], test})
			}
		case died.MatchString(line):
			whole = true
			continue
		case !otherPackage.MatchString(line):
			continue
		}
		tests, whole = nil, false
	}
	return failures, ""
}

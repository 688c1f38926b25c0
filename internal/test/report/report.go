// Package report writes what programs and tests have found into documents:
// between the lines
//
//	<!-- made by e2e/faults -->
//	<!-- end -->
//
// of a document stands what the package of that name has made, and the rest is
// written by hand.
package report

import (
	"fmt"
	"os"
	"strings"
)

const end = "<!-- end -->"

// Check returns the error that Replace with the same path and maker would return, as far as it
// is known before.
func Check(path, maker string) error {
	_, _, err := around(path, maker)
	return err
}

// Replace puts content, whole lines, in place of what maker has made before in
// the document at path. It returns an error, and leaves the document alone, if
// that has no such part or cannot be read or written.
func Replace(path, maker, content string) error {
	before, after, err := around(path, maker)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(before+content+after), 0o644); err != nil {
		return fmt.Errorf("replace what %s has made: %w", maker, err)
	}
	return nil
}

// around returns what is before and after the part that maker has made, with
// the marks.
func around(path, maker string) (before, after string, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", "", fmt.Errorf("replace what %s has made: %w", maker, err)
	}
	begin := "<!-- made by " + maker + " -->"
	before, rest, ok := strings.Cut(string(content), begin+"\n")
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", "", fmt.Errorf("replace what %s has made: %s has no line %q with %q after it", maker, path, begin, end)
	}
	return before + begin + "\n", end + after, nil
}

// Package report contains reports of informers beyond their status: the calls of their
// handlers, the size of their objects, the details of one key, and their limits. Package typed
// fills them in; pages, metrics and logs show them. They are values: the caller owns them.
package report

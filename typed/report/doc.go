// Package report has what informers tell about themselves beyond their status: what their
// handlers do now and how long they take, what their objects weigh, what is known of one
// key, and what limits they were given. Package typed fills these in; pages, metrics and
// logs show them. They are values: whoever gets one owns it.
package report

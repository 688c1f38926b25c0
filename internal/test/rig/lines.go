package rig

import (
	"context"
	"strings"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// Lines returns a context whose logger keeps what is logged, and a function that returns
// the lines that came since it was last called.
func Lines() (context.Context, func() []string) {
	logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(0)))
	buffer, seen := logger.GetSink().(ktesting.Underlier).GetBuffer(), 0
	return klog.NewContext(context.Background(), logger), func() []string {
		all := buffer.String()
		text := strings.TrimSpace(all[seen:])
		seen = len(all)
		if text == "" {
			return nil
		}
		return strings.Split(text, "\n")
	}
}

package kube

import (
	"errors"
	"fmt"
	"strings"
)

// WriterOption is an option of NewWriter: one of the SourceOptions WithResource,
// WithNamespace, WithScheme, WithRESTMapper and WithTypeMeta, or WithFullUpdates.
type WriterOption interface{ addToWriter(*writerOptions) }

// writerOptions are the options of a call of NewWriter.
type writerOptions struct {
	source      []SourceOption
	fullUpdates bool
}

func (o SourceOption) addToWriter(all *writerOptions) { all.source = append(all.source, o) }

type fullUpdates struct{}

func (fullUpdates) addToWriter(all *writerOptions) { all.fullUpdates = true }

// WithFullUpdates says that T has all the fields that objects of the resource can
// have, so that Update and UpdateStatus may replace objects by it: what an object
// has and T does not is removed. It is needed for structs that are in no scheme.
func WithFullUpdates() WriterOption { return fullUpdates{} }

// newWriterOptions collects the options of a Writer.
func newWriterOptions(opts []WriterOption) (restConfig, bool, error) {
	var all writerOptions
	for _, opt := range opts {
		if opt == nil {
			return restConfig{}, false, errors.New("option is nil")
		}
		opt.addToWriter(&all)
	}
	config, err := newSourceConfig(all.source)
	if err == nil {
		err = config.onlyForSources()
	}
	return config.rest, all.fullUpdates, err
}

// onlyForSources returns an error if options were used that say how to list and
// watch.
func (c *sourceConfig) onlyForSources() error {
	var misplaced []string
	for _, option := range []struct {
		name string
		used bool
	}{
		{"WithLabelSelector", c.labels != nil},
		{"WithFieldSelector", c.fields != nil && c.name == nil},
		{"WithName", c.name != nil},
		{"WithoutWatchList", c.noWatchList},
		{"WithWatchListTimeout", c.rest.silence != 0},
		{"WaitForKind", c.rest.waits},
		{"WithPageSize", c.requests.pageSize != 0},
		{"WithConsistentLists", c.requests.latest && c.requests.pageSize == 0},
		{"WithListTimeout", c.requests.listTimeout != 0},
		{"WithWatchTimeout", c.requests.watchTimeout != 0},
		{"WithoutDeduplication", c.rest.withoutDeduplication},
		{"WithFields or WithoutFields", c.rest.mask != nil},
		{"WithWrites", c.writes != nil},
		{"WithListBudget", c.budget != nil},
		{"WithCompressedWatches", c.rest.compressed},
		{"WithBackoff", c.requests.firstWait != 0},
	} {
		if option.used {
			misplaced = append(misplaced, option.name)
		}
	}
	if len(misplaced) == 0 {
		return nil
	}
	return fmt.Errorf("%s: for what lists and watches, and a writer does neither", strings.Join(misplaced, ", "))
}

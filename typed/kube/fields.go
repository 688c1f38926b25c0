package kube

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubetyped/informer/internal/decode/plan"
)

// WithFields makes objects have some fields alone:
//
//	kube.WithFields("metadata.labels", "spec.nodeName", "status.phase")
//
// Fields are named as in JSON, those in elements of a list without an index. Name,
// namespace, UID, resource version, deletion timestamp and kind are always there, all
// else is left out: in protobuf it is skipped in the bytes, and neither allocated nor
// looked at, so that what is wrong with it is not noticed; in other formats it is
// read, and not kept.
//
// A user that is known to need an omitted field gets an error: index.Labels, the selectors of
// listers and of views, and control.EnqueueOwner. Your own functions see objects without it.
//
// Only read such objects. An update with one removes the omitted fields on the server: write
// with patches, or get the object first.
//
// The option is for FromREST, For, and FromClient with a client of client-go's
// clientset. A path that leads nowhere is an error that names the nearest one.
func WithFields(paths ...string) SourceOption { return decoding("WithFields", plan.Only, paths) }

// WithoutFields makes objects have all fields but some, such as
// "metadata.managedFields", which is a third of many objects. See WithFields.
func WithoutFields(paths ...string) SourceOption {
	return decoding("WithoutFields", plan.Without, paths)
}

func decoding(option string, mask func(...string) (*plan.Mask, error), paths []string) SourceOption {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	return func(c *sourceConfig) error {
		if c.rest.mask != nil {
			return errors.New("WithFields and WithoutFields: give one of them, once")
		}
		var err error
		if c.rest.mask, err = mask(paths...); err != nil {
			return fmt.Errorf("%s: %w", option, err)
		}
		c.rest.fields = option + " " + strings.Join(paths, " ")
		return nil
	}
}

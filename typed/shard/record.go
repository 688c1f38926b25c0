package shard

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// What Leases of members have.
const (
	groupLabel        = "shard.kubetyped.io/group"
	holdsAnnotation   = "shard.kubetyped.io/holds"
	wantsAnnotation   = "shard.kubetyped.io/wants"
	optionsAnnotation = "shard.kubetyped.io/options"
	leavingAnnotation = "shard.kubetyped.io/leaving"
	// Ranges that others may hold, and the sources of this member list.
	preparesAnnotation = "shard.kubetyped.io/prepares"
	listedAnnotation   = "shard.kubetyped.io/listed"
	// Two renewals may come at the same time of the clock; they are writes all the same.
	renewalsAnnotation = "shard.kubetyped.io/renewals"
)

// record is what the Lease of a member says.
type record struct {
	identity     string // unique among members that live
	holds, wants ranges // no range is in both
	prepares     ranges // that it is to have, and does not hold
	listed       ranges // those of them that its sources have listed
	prepared     bool   // it says both
	leaving      bool   // it is to get no ranges any more
	options      string // of the group, as the member knows them
	duration     time.Duration
}

// recordOf reads a Lease.
func recordOf(lease *coordinationv1.Lease) (r record, err error) {
	notes := lease.Annotations
	for _, set := range []struct {
		annotation string
		to         *ranges
	}{{holdsAnnotation, &r.holds}, {wantsAnnotation, &r.wants}, {preparesAnnotation, &r.prepares}, {listedAnnotation, &r.listed}} {
		if *set.to, err = parseRanges(notes[set.annotation]); err != nil {
			return r, fmt.Errorf("lease %s/%s: %w", lease.Namespace, lease.Name, err)
		}
	}
	r.identity = ptr.Deref(lease.Spec.HolderIdentity, "")
	_, r.prepared = notes[preparesAnnotation]
	r.leaving = notes[leavingAnnotation] != ""
	r.options = notes[optionsAnnotation]
	r.duration = time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second
	return r, nil
}

// write returns lease as it says r, as one more renewal.
func (r record) write(lease *coordinationv1.Lease) *coordinationv1.Lease {
	written := lease.DeepCopy()
	notes := maps.Clone(lease.Annotations)
	if notes == nil {
		notes = map[string]string{}
	}
	renewals, _ := strconv.ParseUint(notes[renewalsAnnotation], 10, 64) // 0 if it was edited
	notes[renewalsAnnotation] = strconv.FormatUint(renewals+1, 10)
	notes[holdsAnnotation], notes[wantsAnnotation] = r.holds.String(), r.wants.String()
	notes[optionsAnnotation] = r.options
	notes[preparesAnnotation], notes[listedAnnotation] = "", ""
	if !r.prepares.empty() {
		notes[preparesAnnotation], notes[listedAnnotation] = r.prepares.String(), r.listed.String()
	}
	delete(notes, leavingAnnotation)
	if r.leaving {
		notes[leavingAnnotation] = "true"
	}
	written.Annotations = notes
	written.Spec.HolderIdentity = &r.identity
	written.Spec.LeaseDurationSeconds = new(int32((r.duration + time.Second - 1) / time.Second))
	written.Spec.RenewTime = new(metav1.NowMicro()) // for people; no member compares clocks
	return written
}

package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// scope is what a metric is about, and so which labels it has before its own.
type scope uint8

const (
	ofProcess  scope = iota
	ofInformer       // group, kind, and informer if asked for
	ofHandler        // the same, and handler if asked for
	ofQueue          // name
	ofGroup          // name
	ofFleet          // name, and cluster if asked for
)

// combination says what becomes of several values with the same labels.
type combination uint8

const (
	sum combination = iota
	largest
	smallest
)

// definition is a metric as all Metrics have it.
type definition struct {
	name, help string
	scope      scope
	labels     []string // in addition to those of its scope, after them
	kind       prometheus.ValueType
	combine    combination
}

// definitions are all metrics, apart from those that have the names of client-go's.
var definitions []*definition

func define(d definition) *definition {
	definitions = append(definitions, &d)
	return &d
}

func gauge(s scope, c combination, name, help string, labels ...string) *definition {
	return define(definition{name: name, help: help, scope: s, labels: labels, kind: prometheus.GaugeValue, combine: c})
}

func counter(s scope, name, help string, labels ...string) *definition {
	return define(definition{name: name, help: help, scope: s, labels: labels, kind: prometheus.CounterValue})
}

// Of informers.
var (
	informers = gauge(ofInformer, sum, "kubetyped_informers",
		"Informers, by phase: New, Syncing, Synced, Stopped.", "phase")
	objects = gauge(ofInformer, sum, "kubetyped_informer_objects",
		"Objects in the stores.")
	events = counter(ofInformer, "kubetyped_informer_events_total",
		"Changes of the stores.")
	lastEvent = gauge(ofInformer, largest, "kubetyped_informer_last_event_timestamp_seconds",
		"When the last change of a store was applied.")
	lastContact = gauge(ofInformer, smallest, "kubetyped_informer_last_contact_timestamp_seconds",
		"Time of the last message of the API server, bookmarks included; of the running informer for which that is longest ago. Views and sources without a server have none.")
	relists = counter(ofInformer, "kubetyped_informer_relists_total",
		"Lists after the first one.")
	watches = counter(ofInformer, "kubetyped_informer_watches_total",
		"How often watches have begun.")
	failures = gauge(ofInformer, sum, "kubetyped_informer_consecutive_failures",
		"Failures to list or watch in a row.")
	failed = counter(ofInformer, "kubetyped_informer_failures_total",
		"Failures to list or watch.")
	failedLists = counter(ofInformer, "kubetyped_informer_failed_lists_total",
		"Failures to list, of sources that report them; a streamed list is one until it is complete.")
	failedWatches = counter(ofInformer, "kubetyped_informer_failed_watches_total",
		"Failures to watch, of sources that report them.")
	failing = gauge(ofInformer, sum, "kubetyped_informer_failing",
		"Informers whose last attempt to list or watch has failed.")
	firstFailure = gauge(ofInformer, smallest, "kubetyped_informer_first_failure_timestamp_seconds",
		"When an informer began to fail to list or watch that has not worked since; the earliest.")
	ahead = gauge(ofInformer, sum, "kubetyped_informer_ahead_objects",
		"Objects in the state that an own write was answered, which the watch has not come to.")
	names = gauge(ofInformer, sum, "kubetyped_informer_names",
		"Names that sources by reference follow, by state: pending, present, absent, refused, and unheld for those that cannot be held.", "state")
	liveReads = counter(ofInformer, "kubetyped_informer_live_reads_total",
		"Reads by reference that were requests.")
	notStreamed = counter(ofInformer, "kubetyped_informer_lists_not_streamed_total",
		"Streamed lists that were given up for plain ones.")
	rejected = counter(ofInformer, "kubetyped_informer_rejected_total",
		"Objects that were received and could not be used.")
	rejectedObjects = gauge(ofInformer, sum, "kubetyped_informer_rejected_objects",
		"Objects of which the stores have no state, or an earlier one, as what was received could not be used.")
	queuedChanges = gauge(ofInformer, sum, "kubetyped_informer_queued_changes",
		"Changes that wait to be applied to the stores.")
	receivedBytes = counter(ofInformer, "kubetyped_informer_received_bytes_total",
		"Bytes of answers to lists and watches, after decompression, of sources that count them.")
	receivedFrames = counter(ofInformer, "kubetyped_informer_received_frames_total",
		"Objects and other events in answers to lists and watches, of sources that count them.")
	decoding = counter(ofInformer, "kubetyped_informer_decode_seconds_total",
		"Time that it took to decode answers to lists and watches, on all goroutines, estimated from a part of them.")
	budgetUsed = gauge(ofInformer, largest, "kubetyped_informer_budget_used_ratio",
		"Part of the nearer limit of observe.WithBudget that is used; of the informer that uses most.")
	heap = gauge(ofInformer, sum, "kubetyped_informer_heap_bytes",
		"Memory of the objects, estimated, of informers with a budget of bytes.")
	packedBytes = gauge(ofInformer, sum, "kubetyped_informer_packed_bytes",
		"Bytes of the objects that are kept as such, with their bases.")
	packedRawBytes = gauge(ofInformer, sum, "kubetyped_informer_packed_raw_bytes",
		"Bytes in which the server sent the objects that are kept as such.")
	packedBases = gauge(ofInformer, sum, "kubetyped_informer_packed_bases",
		"Bases of the objects that are kept as bytes.")
	packedDecoded = counter(ofInformer, "kubetyped_informer_packed_decodes_total",
		"Objects that were decoded from the bytes that are kept.")
	packedDecoding = counter(ofInformer, "kubetyped_informer_packed_decode_seconds_total",
		"Time that it took to decode objects from the bytes that are kept, on all goroutines.")
	indexKeys = gauge(ofInformer, sum, "kubetyped_informer_index_keys",
		"Keys under which an index has objects.", "index")
	indexLargest = gauge(ofInformer, largest, "kubetyped_informer_index_largest_key_objects",
		"Objects under the key of an index that has most.", "index")
)

// Of handlers.
var (
	handlers = gauge(ofHandler, sum, "kubetyped_informer_handlers",
		"Handlers.")
	handlersStuck = gauge(ofHandler, sum, "kubetyped_informer_handlers_stuck",
		"Handlers that have been in one call for too long.")
	backlog = gauge(ofHandler, sum, "kubetyped_informer_handler_backlog",
		"Events that handlers have not returned from.")
	panics = counter(ofHandler, "kubetyped_informer_handler_panics_total",
		"Panics of handlers.")
	currentCall = gauge(ofHandler, largest, "kubetyped_informer_handler_current_call_seconds",
		"Time since the call began that a handler is in, 0 if it is in none; the longest, of handlers whose calls are timed.")
	callTimes = define(definition{name: "kubetyped_informer_handler_call_duration_seconds", scope: ofHandler,
		help: "Time that calls of handlers took, of handlers whose calls are timed."})
)

// Of queues that were added, and expectations.
var (
	waitingKeys = gauge(ofQueue, sum, "kubetyped_queue_waiting_keys",
		"Keys that wait, by priority; those beyond 25 priorities are left out.", "priority")
	inWorkKeys = gauge(ofQueue, sum, "kubetyped_queue_in_work_keys",
		"Keys that are being processed.")
	delayedKeys = gauge(ofQueue, sum, "kubetyped_queue_delayed_keys",
		"Keys that are to be added later.")
	oldestAge = gauge(ofQueue, largest, "kubetyped_queue_oldest_waiting_seconds",
		"Time for which the first of the waiting keys has waited.")
	stuckKeys = gauge(ofQueue, sum, "kubetyped_queue_stuck_keys",
		"Keys whose processing has lasted for too long.")
	failingKeys = gauge(ofQueue, sum, "kubetyped_queue_failing_keys",
		"Keys that have failed and not succeeded since.")
	keyFailure = gauge(ofQueue, smallest, "kubetyped_queue_first_failure_timestamp_seconds",
		"When a key began to fail that has not succeeded since; the earliest.")
	mostFailures = gauge(ofQueue, largest, "kubetyped_queue_most_failures",
		"Failures in a row of the key that has most.")
	reconciles = counter(ofQueue, "kubetyped_queue_reconciles_total",
		"Keys that were processed by Run, by result: success, requeue, error, terminal.", "result")
	expecting = gauge(ofQueue, sum, "kubetyped_expectations_keys",
		"Keys that expect something.")
	expectingWaiting = gauge(ofQueue, sum, "kubetyped_expectations_waiting_keys",
		"Keys that were put off until what they expect is met.")
	putOff = counter(ofQueue, "kubetyped_expectations_put_off_total",
		"How often a key was put off.")
	expired = counter(ofQueue, "kubetyped_expectations_expired_total",
		"Keys whose time was over before what they expect was met.")
)

// Of groups that share objects.
var (
	shardMembers = gauge(ofGroup, largest, "kubetyped_shard_members",
		"Members of the group, as this one sees it.")
	shardRanges = gauge(ofGroup, sum, "kubetyped_shard_ranges",
		"Ranges of the 256 that this member works on.")
	shardWanted = gauge(ofGroup, sum, "kubetyped_shard_wanted_ranges",
		"Ranges that this member is about to take.")
	shardLeaving = gauge(ofGroup, sum, "kubetyped_shard_leaving_ranges",
		"Ranges that this member has stopped and not given up, because reconciles are running.")
	shardCalls = gauge(ofGroup, sum, "kubetyped_shard_calls",
		"Reconciles that are running.")
	shardValid = gauge(ofGroup, smallest, "kubetyped_shard_valid",
		"Whether this member may work, as it has renewed its Lease in time: 1 or 0.")
	shardFailing = gauge(ofGroup, largest, "kubetyped_shard_failing",
		"Whether the last round of requests for Leases has failed: 1 or 0.")
	shardRenewed = gauge(ofGroup, smallest, "kubetyped_shard_renewed_timestamp_seconds",
		"Start of the last successful renewal of this member's Lease.")
	shardLapsed = counter(ofGroup, "kubetyped_shard_lapsed_total",
		"How often this member had to stop, as it had not renewed its Lease in time.")
	shardEdited = counter(ofGroup, "kubetyped_shard_edited_total",
		"How often this member's Lease was changed by others.")
	shardOverlaps = counter(ofGroup, "kubetyped_shard_overlaps_total",
		"How often another member has begun to hold a range of this one.")
	shardLost = counter(ofGroup, "kubetyped_shard_lost_total",
		"How often other members have taken all that this one had, as it could not renew its Lease.")
)

// Of fleets.
var (
	fleetClusters = gauge(ofFleet, sum, "kubetyped_fleet_clusters",
		"Clusters, by phase: New, Listing, Synced, Stale, Ended, Failed.", "phase")
	fleetObjects = gauge(ofFleet, sum, "kubetyped_fleet_objects",
		"Objects of the clusters.")
	fleetFailing = gauge(ofFleet, sum, "kubetyped_fleet_failing_clusters",
		"Clusters whose last attempt to list or watch has failed, or that have failed for good.")
	fleetFailures = gauge(ofFleet, sum, "kubetyped_fleet_failures",
		"Failures to list or watch in a row.")
	fleetFailure = gauge(ofFleet, smallest, "kubetyped_fleet_first_failure_timestamp_seconds",
		"When a cluster began to fail that has not worked since; the earliest.")
	fleetContact = gauge(ofFleet, smallest, "kubetyped_fleet_last_contact_timestamp_seconds",
		"When a cluster was last heard of; of the one for which that is longest ago.")
)

// Of own writes.
var (
	takenWrites = counter(ofProcess, "kubetyped_own_writes_taken_total",
		"Answers to own writes that stores have got before the watch.")
	ignoredWrites = counter(ofProcess, "kubetyped_own_writes_ignored_total",
		"Answers to own writes that the watch, or a later answer, was ahead of, and those that came before the first list.")
	lateWrites = counter(ofProcess, "kubetyped_own_writes_late_total",
		"Own writes that have returned before reads had them, as a second was over.")
	leftOutWrites = counter(ofProcess, "kubetyped_own_writes_left_out_total",
		"Answers to own writes that were left to the watch, by reason.", "reason")
)

// Of the process.
var (
	factoryBudgetUsed = gauge(ofProcess, largest, "kubetyped_factory_budget_used_ratio",
		"Part of the nearer limit of observe.WithTotalBudget that all informers of a factory use; of the factory that uses most.")
	deduplicatedParts = gauge(ofProcess, sum, "kubetyped_deduplicated_parts",
		"Parts in the deduplication table.")
	deduplicationBytes = gauge(ofProcess, sum, "kubetyped_deduplication_table_bytes",
		"Size of the deduplication table.")
	deduplicationLookups = counter(ofProcess, "kubetyped_deduplication_lookups_total",
		"Lookups of parts in the deduplication table.")
	deduplicationHits = counter(ofProcess, "kubetyped_deduplication_hits_total",
		"Lookups that found a part in the deduplication table.")
)

// labelsOf returns the names of a metric's labels.
func (o *options) labelsOf(d *definition) []string {
	var labels []string
	switch d.scope {
	case ofQueue, ofGroup:
		labels = append(labels, nameLabel)
	case ofFleet:
		labels = append(labels, nameLabel)
		if o.clusterNames {
			labels = append(labels, "cluster")
		}
	case ofInformer, ofHandler:
		labels = append(labels, "group", "kind")
		if o.informerNames {
			labels = append(labels, "informer")
		}
		if o.handlerNames && d.scope == ofHandler {
			labels = append(labels, "handler")
		}
	}
	return slices.Concat(labels, d.labels)
}

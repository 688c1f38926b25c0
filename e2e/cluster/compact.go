package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// compactedKey is where API servers leave the revision of their last
// compaction for each other.
const compactedKey = "compact_rev_key"

// Compact makes etcd forget its history up to the current revision, as an API server does every
// five minutes with revisions older than that, and returns that revision.
//
//  1. A read from etcd at an older resource version gets 410 Gone: a watch of
//     a resource without a watch cache, the next page of a list.
//  2. An API server that has been running keeps its watch caches, so that a
//     watch of a cached resource may still continue from an older version.
//     After Restart it does not. It forgets older snapshots, from which it
//     serves lists, within a second or two.
//
// It works whether the API server is up or down. It returns ErrStopped after
// Stop, and an error if etcd cannot be reached or ctx ends.
func (c *Cluster) Compact(ctx context.Context) (revision int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return 0, ErrStopped
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"unix://" + c.etcdSocket()},
		Context:   ctx,
	})
	if err != nil {
		return 0, fmt.Errorf("compact etcd: connect: %w", err)
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	current, err := client.Get(ctx, compactedKey)
	if err != nil {
		return 0, fmt.Errorf("compact etcd: read the current revision: %w", err)
	}
	revision = current.Header.Revision
	if _, err := client.Put(ctx, compactedKey, strconv.FormatInt(revision, 10)); err != nil {
		return 0, fmt.Errorf("compact etcd: tell the API servers: %w", err)
	}
	if _, err := client.Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil {
		return 0, fmt.Errorf("compact etcd at revision %d: %w", revision, err)
	}
	return revision, nil
}

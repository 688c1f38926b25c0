package shard_test

import (
	"context"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/source"
)

// obeying returns sources of a server that selects ranges, as those with the feature gate
// ShardedListAndWatch do.
func obeying(srv *apitest.Server) func() source.Source[*corev1.ConfigMap] {
	return func() source.Source[*corev1.ConfigMap] {
		return &obeyingSource{Source: ignoring(srv)()}
	}
}

type obeyingSource struct {
	source.Source[*corev1.ConfigMap]
}

var bounds = regexp.MustCompile(`shardRange\(object\.metadata\.(\w+), '(0x[0-9a-f]+)', '(0x[0-9a-f]+)'\)`)

// InShards implements source.Sharder.
func (s *obeyingSource) InShards(selector string) source.Source[*corev1.ConfigMap] {
	found := bounds.FindAllStringSubmatch(selector, -1)
	inner := s.Source.(source.Sharder[*corev1.ConfigMap]).InShards(selector)
	return sieved{inner, func(obj *corev1.ConfigMap) bool {
		value := string(obj.UID)
		if len(found) > 0 && found[0][1] == "namespace" {
			value = obj.Namespace
		}
		hash := "0x" + sharding.HashField(value)
		for _, b := range found {
			if !sharding.HexLess(hash, b[2]) && sharding.HexLess(hash, b[3]) {
				return true
			}
		}
		return selector == ""
	}}
}

// sieved is a source of some objects. It reports neither the others nor their versions.
type sieved struct {
	source.Source[*corev1.ConfigMap]
	has func(*corev1.ConfigMap) bool
}

func (s sieved) Run(ctx context.Context, sink source.Sink[*corev1.ConfigMap]) error {
	return s.Source.Run(ctx, &sieve{source.Forwarder[*corev1.ConfigMap]{To: sink}, s.has})
}

type sieve struct {
	source.Forwarder[*corev1.ConfigMap]
	has func(*corev1.ConfigMap) bool
}

func (s *sieve) Change(c index.Change[*corev1.ConfigMap], version string) {
	if c.Object == nil || s.has(c.Object) {
		s.To.Change(c, version)
	}
}

func (s *sieve) Stage(obj *corev1.ConfigMap, version string) source.Staged {
	if !s.has(obj) {
		return source.LeaveOut()
	}
	return s.To.Stage(obj, version)
}

// rigList lists all ConfigMaps.
func rigList(srv *apitest.Server) ([]*corev1.ConfigMap, error) {
	client, err := rig.NewClient(srv.Config())
	if err != nil {
		return nil, err
	}
	list, err := client.CoreV1().ConfigMaps("").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	objs := make([]*corev1.ConfigMap, len(list.Items))
	for i := range list.Items {
		objs[i] = &list.Items[i]
	}
	return objs, nil
}

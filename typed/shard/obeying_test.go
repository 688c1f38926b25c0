package shard_test

import (
	"context"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"

	"github.com/kubetyped/informer/typed/internal/rig"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/typedtest"
)

// obeying returns sources of a server that selects ranges, as those with the feature gate
// ShardedListAndWatch do.
func obeying(srv *typedtest.Server) func() source.Source[*corev1.ConfigMap] {
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
	return source.FilterMap(inner, func(obj *corev1.ConfigMap) (*corev1.ConfigMap, bool) {
		value := string(obj.UID)
		if len(found) > 0 && found[0][1] == "namespace" {
			value = obj.Namespace
		}
		hash := "0x" + sharding.HashField(value)
		for _, b := range found {
			if !sharding.HexLess(hash, b[2]) && sharding.HexLess(hash, b[3]) {
				return obj, true
			}
		}
		return obj, selector == ""
	})
}

// rigList lists all ConfigMaps.
func rigList(srv *typedtest.Server) ([]*corev1.ConfigMap, error) {
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

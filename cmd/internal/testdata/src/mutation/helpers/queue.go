package helpers

import (
	"context"

	"k8s.io/client-go/tools/cache"
)

type Syncer interface{ Sync(obj any) error }

type SyncFunc func(obj any) error

func (f SyncFunc) Sync(obj any) error { return f(obj) }

type Option func(*config)

type config struct {
	informer cache.SharedIndexInformer
	syncer   Syncer
}

func WithInformer(informer cache.SharedIndexInformer) Option {
	return func(c *config) { c.informer = informer }
}

func WithSyncer(syncer Syncer) Option { return func(c *config) { c.syncer = syncer } }

func NewQueueInformer(options ...Option) func(key string) error {
	var c config
	for _, o := range options {
		o(&c)
	}
	return func(key string) error {
		obj, _, err := c.informer.GetIndexer().GetByKey(key)
		if err != nil {
			return err
		}
		return c.syncer.Sync(obj)
	}
}

func Process(informer cache.SharedIndexInformer, each func(obj any)) {}

func Transform(informer cache.SharedIndexInformer, each func(obj any) (any, error)) {}

func ProcessKeys(ctx context.Context, informer cache.SharedIndexInformer, each func(ctx context.Context, key any) error) {
}

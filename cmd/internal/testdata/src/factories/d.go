package factories

import (
	"example.com/generated/externalversions"
	"k8s.io/client-go/tools/cache"
)

func generated(client any, stop <-chan struct{}) cache.SharedIndexInformer {
	factory := externalversions.NewSharedInformerFactory(client, 0) // want `informer-gen has made it: call adapters.Serve`
	factory.Start(stop)
	return nil
}

func message(err error) string { return err.Error() }

package factories

import (
	"time"

	"k8s.io/client-go/informers" // want `factories of github.com/kubetyped/informer/adapters/informers have the same types`
)

func run(client any) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactory(client, time.Minute)
}

package factories

import "k8s.io/client-go/informers" // want `has no NewOther`

func others(client any) informers.SharedInformerFactory {
	informers.NewOther()
	return informers.NewSharedInformerFactory(client, 0)
}

package lateinformer

import "k8s.io/client-go/informers"

func late(stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	_ = factory.Pods().Lister()
	factory.Start(stop)
	_ = factory.Pods().Lister() // want `this lister is made after the factory was started`
	if stop != nil {
		factory.Pods().Informer() // want `this informer is made after`
	}
	other := informers.NewSharedInformerFactory(nil, 0)
	_ = other.Pods().Lister()
}

func again(stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	factory.Start(stop)
	_ = factory.Pods().Lister()
	factory.Start(stop)
}

func before(stop chan struct{}, start bool) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	if start {
		factory.Start(stop)
		return
	}
	_ = factory.Pods().Lister()
}

func later(stop chan struct{}) func() {
	factory := informers.NewSharedInformerFactory(nil, 0)
	defer factory.Start(stop)
	_ = factory.Pods().Lister()
	factory.Start(stop)
	return func() { _ = factory.Pods().Lister() }
}

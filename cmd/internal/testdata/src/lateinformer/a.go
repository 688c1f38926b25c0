package lateinformer

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

func late(stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	_ = factory.Pods().Lister()
	factory.Start(stop)
	_ = factory.Pods().Informer() // the lister's, which runs
	_ = factory.Nodes().Lister()  // want `this lister is made after the factory was started`
	if stop != nil {
		factory.Nodes().Informer() // want `this informer is made after`
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

func generic(stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	_ = factory.ForResource("pods").Informer()
	factory.Start(stop)
	_ = factory.ForResource("pods").Informer()
	_ = factory.ForResource("nodes").Informer() // want `this informer is made after`
}

func controller(pods informers.PodInformer) { _ = pods.Lister() }

func controllers(factory informers.SharedInformerFactory) { _ = factory.Pods().Lister() }

func passed(stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	controller(factory.Pods())
	factory.Start(stop)
	_ = factory.Pods().Lister()
	_ = factory.Nodes().Lister() // want `this lister is made after`
}

func passedWhole(stop chan struct{}) {
	all := informers.NewSharedInformerFactory(nil, 0)
	controllers(all)
	all.Start(stop)
	_ = all.Pods().Lister()
}

func run(stop chan struct{}) bool {
	factory := informers.NewSharedInformerFactory(nil, 0)
	factory.Start(stop)
	pods := factory.Pods().Informer()
	go pods.Run(stop)
	nodes := factory.Nodes().Informer() // want `this informer is made after`
	return cache.WaitForCacheSync(stop, pods.HasSynced, nodes.HasSynced)
}

func typed(stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	_ = factory.Pods().TypedInformer()
	factory.Start(stop)
	var pods informers.PodInformer = factory.Pods()
	_ = pods.Lister()
	_ = factory.Pods().Lister()
	_ = factory.Nodes().TypedInformer() // want `this informer is made after`
}

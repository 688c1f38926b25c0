package view_test

import (
	"context"
	"fmt"
	"iter"
	"log"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/view"
)

// Service and Pod are objects: any type with a name is one. So is row, which has a name and a value.
type (
	Service struct {
		view.Named
		Selector map[string]string
	}
	Pod struct {
		view.Named
		Labels map[string]string
		Node   string
		CPU    int
	}
)

func (p *Pod) GetLabels() map[string]string { return p.Labels }

func webPod(name, node string, cpu int) *Pod {
	return &Pod{view.Named{Namespace: "shop", Name: name}, map[string]string{"app": "web"}, node, cpu}
}

func namesOfPods(pods iter.Seq[*Pod]) (names []string) {
	for p := range pods {
		names = append(names, p.Name)
	}
	return names
}

// keepRows runs the informer of a view, and returns when that has its first objects.
func keepRows(v *view.View[row]) (ctx context.Context, rows *typed.Informer[row], stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	rows = typed.NewInformer(v)
	ended := make(chan error, 1)
	go func() { ended <- rows.Run(ctx) }()
	if err := rows.WaitForSync(ctx); err != nil {
		log.Print(err)
	}
	return ctx, rows, func() {
		cancel()
		<-ended
	}
}

func showRow(rows *typed.Informer[row], name string) {
	r, ok := rows.Get(index.Key{Name: name})
	if !ok {
		fmt.Println(name, "is not there")
		return
	}
	fmt.Println(name+":", r.value)
}

// The Pods of a Service, as they come and go. With a cluster, the inputs are view.Of of
// the informers of Services and Pods.
func Example_endpoints() {
	services := view.NewSet(&Service{view.Named{"shop", "web"}, map[string]string{"app": "web"}})
	pods := view.NewSet(webPod("web-0", "a", 1))
	input := pods.View()
	endpoints := view.JoinSelecting(services.View(), input,
		func(s *Service) labels.Selector { return labels.SelectorFromSet(s.Selector) },
		func(s *Service, pods iter.Seq[*Pod]) (row, bool) {
			return row{s.Name, fmt.Sprint(namesOfPods(pods))}, true
		})
	ctx, rows, stop := keepRows(endpoints)
	defer stop()
	showRow(rows, "web")

	// Wait until the view reflects a write.
	version := pods.Put(webPod("web-1", "b", 1))
	if err := endpoints.WaitForResourceVersion(ctx, input, version); err != nil {
		log.Print(err)
	}
	showRow(rows, "web")
	// Output:
	// web: [web-0]
	// web: [web-0 web-1]
}

// A sum by node. One Pod that changes is taken out and added again, however many others
// there are.
func ExampleReduce() {
	pods := view.NewSet(webPod("web-0", "a", 2), webPod("web-1", "a", 3), webPod("web-2", "b", 1))
	input := pods.View()
	node := view.One(func(p *Pod) (string, bool) { return p.Node, p.Node != "" })
	load := view.Reduce(input, node,
		view.Fold[*Pod, int]{
			Add:    func(cpu *int, p *Pod) { *cpu += p.CPU },
			Remove: func(cpu *int, p *Pod) { *cpu -= p.CPU },
		},
		func(node string, cpu *int, pods int) (row, bool) {
			return row{node, fmt.Sprintf("%d CPUs of %d Pods", *cpu, pods)}, true
		})
	ctx, rows, stop := keepRows(load)
	defer stop()
	showRow(rows, "a")

	version := pods.Put(webPod("web-1", "b", 4))
	if err := load.WaitForResourceVersion(ctx, input, version); err != nil {
		log.Print(err)
	}
	showRow(rows, "a")
	showRow(rows, "b")
	// Output:
	// a: 5 CPUs of 2 Pods
	// a: 2 CPUs of 1 Pods
	// b: 5 CPUs of 2 Pods
}

// A lookup may depend on the results of an earlier one. Here, the text of a Service lists the
// neighbours of its first Pod on the same node.
func ExampleCompute() {
	services := view.NewSet(&Service{view.Named{"shop", "web"}, map[string]string{"app": "web"}})
	pods := view.NewSet(webPod("web-0", "a", 1), &Pod{view.Named{"shop", "other"}, nil, "a", 1})
	input := pods.View()
	selected := view.ByLabels(input)
	byNode := view.By(input, view.One(func(p *Pod) (string, bool) { return p.Node, true }))
	neighbours := view.Compute(services.View(), func(f *view.Fetcher, s *Service) (row, bool) {
		for p := range selected.Select(f, s.Namespace, labels.SelectorFromSet(s.Selector)) {
			return row{s.Name, fmt.Sprintf("%s is on %s with %v", p.Name, p.Node, namesOfPods(byNode.Fetch(f, p.Node)))}, true
		}
		return row{}, false
	}, []view.AnyLookup{selected, byNode})
	ctx, rows, stop := keepRows(neighbours)
	defer stop()
	showRow(rows, "web")

	version := pods.Put(webPod("web-0", "b", 1))
	if err := neighbours.WaitForResourceVersion(ctx, input, version); err != nil {
		log.Print(err)
	}
	showRow(rows, "web")
	// Output:
	// web: web-0 is on a with [other web-0]
	// web: web-0 is on b with [web-0]
}

// Explain returns the inputs that an object was made of.
func ExampleView_Explain() {
	services := view.NewSet(&Service{view.Named{"shop", "web"}, map[string]string{"app": "web"}})
	pods := view.NewSet(webPod("web-0", "a", 1), webPod("web-1", "b", 1))
	endpoints := view.JoinSelecting(services.View(), pods.View(),
		func(s *Service) labels.Selector { return labels.SelectorFromSet(s.Selector) },
		func(s *Service, pods iter.Seq[*Pod]) (row, bool) {
			return row{s.Name, fmt.Sprint(namesOfPods(pods))}, true
		},
		view.WithName("endpoints"))
	ctx, _, stop := keepRows(endpoints)
	defer stop()
	why, ok, err := endpoints.Explain(ctx, index.Key{Name: "web"})
	if err != nil || !ok {
		log.Print(ok, err)
	}
	fmt.Println(why.View, "made it of", why.From[0].Key)
	fmt.Println(why.Fetched[0].Key, "found", why.Fetched[0].Objects)
	// Output:
	// endpoints made it of shop/web
	// app=web in shop found [shop/web-0 shop/web-1]
}

package ctrlruntime

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/report"
)

// cachedInformer is an informer of the cache, which knows its kind.
type cachedInformer struct {
	typed.AnyInformer
	name string
	kind schema.GroupVersionKind
	host string
}

// Name implements typed.AnyInformer.
func (i *cachedInformer) Name() string { return i.name }

// Status implements typed.AnyInformer.
func (i *cachedInformer) Status() report.Status {
	s := i.AnyInformer.Status()
	s.Name, s.Origin.Kind, s.Origin.Host = i.name, i.kind, i.host
	return s
}

// addInformer notes an informer of the cache.
func (c *managerCache) addInformer(of kindOf, informer toolscache.SharedInformer) {
	standsOn, ok := adapters.AnyInformer(informer)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.informers[of] = append(c.informers[of], &cachedInformer{standsOn, nameOf(of.kind, of.form()), of.kind, c.host})
}

// Informers implements inspect.Factory.
func (c *managerCache) Informers() (all []typed.AnyInformer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, informers := range c.informers {
		for _, informer := range informers {
			all = append(all, informer)
		}
	}
	slices.SortStableFunc(all, func(a, b typed.AnyInformer) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// form is how a cache has the objects of a kind, "" for their Go type.
func (of kindOf) form() string {
	switch of.of {
	case unstructuredType:
		return "unstructured"
	case metadataType:
		return "metadata"
	}
	return ""
}

// nameOf is what informers of a kind are called, such as Deployment.apps (metadata).
func nameOf(kind schema.GroupVersionKind, form string) string {
	name := kind.GroupKind().String()
	if form != "" {
		name += " (" + form + ")"
	}
	return name
}

// problems returns what a page shows of the cache apart from its informers: kinds that the server
// does not have, and those that are cached in several forms.
func (c *managerCache) problems() (problems []snapshot.Problem) {
	for _, kind := range Waiting(c) {
		problems = append(problems, snapshot.Problem{
			Severity: snapshot.Warning, Reason: "KindMissing", Name: nameOf(kind, ""),
			Text: "the server does not have this kind, or the program may not list it; its informer waits", Detail: c.whyWaiting(kind).Error(),
		})
	}
	c.mu.Lock()
	forms := map[schema.GroupVersionKind][]string{}
	for of, informers := range c.informers {
		if len(informers) > 0 {
			forms[of.kind] = append(forms[of.kind], of.form())
		}
	}
	c.mu.Unlock()
	kinds := slices.SortedFunc(maps.Keys(forms), func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	for _, kind := range kinds {
		slices.Sort(forms[kind])
		first := forms[kind][0]
		for _, form := range forms[kind][1:] {
			problems = append(problems, snapshot.Problem{
				Severity: snapshot.Note, Reason: "CachedTwice", Name: nameOf(kind, form),
				Text: fmt.Sprintf("its objects are cached as %s, too: read them in one form", nameOf(kind, first)),
			})
		}
	}
	return problems
}

// whyWaiting returns the error that reads of a kind return.
func (c *managerCache) whyWaiting(kind schema.GroupVersionKind) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.gone[kind]; err != nil {
		return err
	}
	return noMatch(kind)
}

package adapters

import (
	"fmt"
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// factoryLimits are the settings of a factory that its informers have to keep to.
type factoryLimits struct {
	namespace string
	tweaked   bool
	named     bool
}

// limitsOf returns the limits of a factory, as far as they can be seen. Namespace and list
// options are in fields that informer-gen gives to each factory. limitsOf reads them, and only
// to refuse what would be wrong. A factory without these fields has no limits.
func limitsOf(factory any) factoryLimits {
	var limits factoryLimits
	if f, ok := factory.(interface{ InformerName() *cache.InformerName }); ok {
		limits.named = f.InformerName() != nil
	}
	fields := reflect.Indirect(reflect.ValueOf(factory))
	if fields.Kind() != reflect.Struct {
		return limits
	}
	if field := fields.FieldByName("namespace"); field.Kind() == reflect.String {
		limits.namespace = field.String()
	}
	if field := fields.FieldByName("tweakListOptions"); field.Kind() == reflect.Func {
		limits.tweaked = !field.IsNil()
	}
	return limits
}

// byHand says how to do what Serve cannot.
const byHand = "or call the factory's InformerFor with a function that returns NewClientInformer(…), made as you want it"

// checkLimits returns an error if an informer that lists with a client would not
// keep to the limits.
func checkLimits(limits factoryLimits, client any, tweaked bool) error {
	if limits.namespace != "" {
		if namespace := namespaceOf(client); namespace != limits.namespace {
			return fmt.Errorf("the factory is limited to namespace %q, and the client is for %q (\"\" is all): give it the client for that namespace, %s", limits.namespace, namespace, byHand)
		}
	}
	if limits.tweaked && !tweaked {
		return fmt.Errorf("the factory has list options, which it does not hand out: give them to Serve as well, %s", byHand)
	}
	if limits.named {
		return fmt.Errorf("the factory has an informer name, which needs a resource to go with: leave the name out, %s, with InformerName().WithResource(…) as its Identifier", byHand)
	}
	return nil
}

// namespaceOf returns the namespace that a generated client is for, real or fake.
func namespaceOf(client any) string {
	switch c := client.(type) {
	case interface{ GetNamespace() string }:
		return c.GetNamespace()
	case interface{ Namespace() string }:
		return c.Namespace()
	}
	return ""
}

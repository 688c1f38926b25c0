package main

import (
	"fmt"
	"hash/fnv"
	"iter"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/view"
)

// checksumAnnotation is the checksum of the configuration that the Pods of a Deployment were
// started with: a program that restarts a Deployment writes Restart.Checksum into this
// annotation of its template.
const checksumAnnotation = "example.com/configuration"

// Restart is a Deployment with Pods that run with another configuration than they would be
// started with now.
type Restart struct {
	view.Named
	Checksum string
	Pods     []string
}

func (r *Restart) String() string {
	return fmt.Sprintf("restart %s for %s: %s", r.Key(), r.Checksum, strings.Join(r.Pods, " "))
}

// configuration is the checksum of a ConfigMap or Secret, so that a view of both does not
// keep what is in them. Both may have one name, so the kind is a part of this one.
type configuration struct {
	view.Named
	Checksum string
}

// outdated is a Pod that runs with another configuration.
type outdated struct {
	view.Named
	Deployment index.Key
	Checksum   string
}

// restartsOf is a Restart for each Deployment that needs one.
func restartsOf(
	configMaps *view.View[*corev1.ConfigMap], secrets *view.View[*corev1.Secret],
	pods *view.View[*corev1.Pod], replicaSets *view.View[*appsv1.ReplicaSet],
) *view.View[*Restart] {
	configurations := view.Union(
		view.Map(configMaps, func(c *corev1.ConfigMap) *configuration {
			return &configuration{view.Named{Namespace: c.Namespace, Name: "ConfigMap " + c.Name}, checksumOf(c)}
		}),
		view.Map(secrets, func(s *corev1.Secret) *configuration {
			return &configuration{view.Named{Namespace: s.Namespace, Name: "Secret " + s.Name}, checksum(s.Data)}
		}))

	byName := view.By(configurations, view.Name[*configuration]())
	owners := view.By(replicaSets, view.Name[*appsv1.ReplicaSet]())
	old := view.Compute(pods, func(f *view.Fetcher, p *corev1.Pod) (*outdated, bool) {
		replicaSet, ok := controllerOf(p, "ReplicaSet")
		if !ok {
			return nil, false
		}
		owner, ok := owners.One(f, replicaSet)
		if !ok {
			return nil, false
		}
		deployment, ok := controllerOf(owner, "Deployment")
		if !ok {
			return nil, false
		}
		var sums []string
		for _, mounted := range mountedBy(p) {
			if c, ok := byName.One(f, mounted); ok {
				sums = append(sums, c.Checksum)
			}
		}
		now := checksum(sums)
		return &outdated{view.NamedAs(p), deployment, now}, len(sums) > 0 && p.Annotations[checksumAnnotation] != now
	}, []view.AnyLookup{byName, owners}, view.WithName("outdated Pods"))

	byDeployment := view.One(func(o *outdated) (index.Key, bool) { return o.Deployment, true })
	return view.Group(old, byDeployment, func(deployment index.Key, pods iter.Seq[*outdated]) (*Restart, bool) {
		r := &Restart{Named: view.Named(deployment)}
		for o := range pods {
			r.Checksum, r.Pods = o.Checksum, append(r.Pods, o.Name)
		}
		return r, true
	}, view.WithName("restarts"))
}

// mountedBy returns the names of the configurations that a Pod mounts.
func mountedBy(p *corev1.Pod) (names []index.Key) {
	for _, v := range p.Spec.Volumes {
		switch {
		case v.ConfigMap != nil:
			names = append(names, index.Key{Namespace: p.Namespace, Name: "ConfigMap " + v.ConfigMap.Name})
		case v.Secret != nil:
			names = append(names, index.Key{Namespace: p.Namespace, Name: "Secret " + v.Secret.SecretName})
		}
	}
	return names
}

// controllerOf returns the name of an object's controller, false if it is of another kind.
func controllerOf(obj metav1.Object, kind string) (index.Key, bool) {
	ref := metav1.GetControllerOfNoCopy(obj)
	if ref == nil || ref.Kind != kind {
		return index.Key{}, false
	}
	return index.Key{Namespace: obj.GetNamespace(), Name: ref.Name}, true
}

func checksumOf(c *corev1.ConfigMap) string { return checksum(c.Data, c.BinaryData) }

// checksum returns a short checksum of values. Maps are printed in the order of their keys.
func checksum(values ...any) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%q", values)
	return fmt.Sprintf("%08x", h.Sum32())
}

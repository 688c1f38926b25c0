// Package crd makes and removes custom resource definitions for the end-to-end
// suites.
package crd

import (
	"context"
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// poll is how often the server is asked whether it has got there.
const poll = 50 * time.Millisecond

// Resource is a custom resource: namespaced, with a status subresource, and
// objects that may have any fields.
type Resource struct {
	Group, Kind string
	// Version is the one that is served, and stored unless Stored says otherwise.
	Version string
	// Stored, if not empty, is another version, served too, that objects are
	// stored in. The two differ in their names only.
	Stored string
}

// GVR returns the resource: the plural is the kind with an s.
func (r Resource) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: strings.ToLower(r.Kind) + "s"}
}

// GVK returns the kind of the objects.
func (r Resource) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

func (r Resource) name() string { return r.GVR().GroupResource().String() }

// Create creates the definition and returns when the server serves the resource.
func (r Resource) Create(ctx context.Context, config *rest.Config) error {
	if err := r.create(ctx, config); err != nil {
		return fmt.Errorf("create custom resource %s: %w", r.name(), err)
	}
	return nil
}

func (r Resource) create(ctx context.Context, config *rest.Config) error {
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	if _, err := client.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, r.definition(), metav1.CreateOptions{}); err != nil {
		return err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	return r.until(ctx, func() (bool, error) {
		_, err := objects.Resource(r.GVR()).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) || apierrors.IsTooManyRequests(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// Delete deletes the definition with all objects, and returns when both are
// gone. It is no error if there is no such definition.
func (r Resource) Delete(ctx context.Context, config *rest.Config) error {
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("delete custom resource %s: %w", r.name(), err)
	}
	definitions := client.ApiextensionsV1().CustomResourceDefinitions()
	if err := definitions.Delete(ctx, r.name(), metav1.DeleteOptions{}); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("delete custom resource %s: %w", r.name(), err)
	}
	if err := r.until(ctx, func() (bool, error) {
		_, err := definitions.Get(ctx, r.name(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	}); err != nil {
		return fmt.Errorf("wait until custom resource %s is gone: %w", r.name(), err)
	}
	return nil
}

func (r Resource) until(ctx context.Context, done func() (bool, error)) error {
	return wait.PollUntilContextCancel(ctx, poll, true, func(context.Context) (bool, error) { return done() })
}

func (r Resource) definition() *apiextensionsv1.CustomResourceDefinition {
	versions := []apiextensionsv1.CustomResourceDefinitionVersion{version(r.Version)}
	if r.Stored != "" {
		versions = append(versions, version(r.Stored))
	}
	versions[len(versions)-1].Storage = true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: r.name()},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: r.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: r.GVR().Resource, Singular: strings.ToLower(r.Kind), Kind: r.Kind, ListKind: r.Kind + "List",
			},
			Versions: versions,
		},
	}
}

// version is a version with the subresources status and scale, whose objects may have any
// fields.
func version(name string) apiextensionsv1.CustomResourceDefinitionVersion {
	anything := true
	return apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true,
		Subresources: &apiextensionsv1.CustomResourceSubresources{
			Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
			Scale: &apiextensionsv1.CustomResourceSubresourceScale{
				SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: new(".status.selector"),
			},
		},
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", XPreserveUnknownFields: &anything,
		}},
	}
}

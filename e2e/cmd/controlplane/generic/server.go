//go:build !race

// Package generic is a Kubernetes API server that starts in a fraction of the
// time that kube-apiserver takes: the generic server of k8s.io/apiserver, over a
// real etcd, for some of the kinds in k8s.io/api.
//
//  1. What clients see of reads, writes and watches is the work of the code that
//     kube-apiserver runs: handlers, encodings, discovery, registry, watch cache
//     and etcd storage, with the same feature gates.
//  2. Writes set what they set there: UID, generation, generated names, managed
//     fields, and a status that only its subresource changes. A Pod is marked
//     before it is deleted.
//  3. There is no admission, no defaulting, no validation except of metadata,
//     and no OpenAPI. An object may be in a namespace that does not exist, and a
//     namespace is deleted at once, without its objects.
//  4. Members of system:masters may do everything, others nothing. There is no
//     priority and fairness, only a limit on the requests in flight.
package generic

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	genericregistry "k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	definitions "k8s.io/kubernetes/pkg/generated/openapi"
)

// shutdownTimeout is how long connections may stay open after their requests:
// clients keep them, and the library would wait for a second. Requests are waited
// for in any case.
const shutdownTimeout = 100 * time.Millisecond

// Run serves until ctx ends, and then waits for the server's graceful shutdown.
// args are the flags of kube-apiserver, as far as they apply: those of serving,
// etcd, features and logs, and --token-auth-file. It returns an error if one is
// wrong, or if the server cannot start or ends by itself.
func Run(ctx context.Context, args []string) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	o, err := parseOptions(args, newStorageCodec(scheme))
	if err != nil {
		return err
	}
	if err := waitForEtcd(ctx, o.etcd.StorageConfig.Transport.ServerList); err != nil {
		return err
	}
	server, err := newServer(scheme, o)
	if err != nil {
		return err
	}
	server.ShutdownTimeout = shutdownTimeout
	return server.PrepareRun().RunWithContext(ctx)
}

func newServer(scheme *runtime.Scheme, o *options) (*genericapiserver.GenericAPIServer, error) {
	// The encodings are of values that are not objects, such as errors and discovery.
	config := genericapiserver.NewConfig(serializer.NewCodecFactory(scheme))
	if err := o.applyTo(config); err != nil {
		return nil, err
	}
	tokens, err := tokenfile.NewCSV(o.tokenFile)
	if err != nil {
		return nil, fmt.Errorf("read --token-auth-file: %w", err)
	}
	config.Authentication.Authenticator = group.NewAuthenticatedGroupAdder(bearertoken.New(tokens))
	config.Authorization.Authorizer = authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup)
	// Managed fields need the definitions. No client of this server needs them published.
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(
		definitions.GetOpenAPIDefinitions, openapi.NewDefinitionNamer(scheme))
	config.SkipOpenAPIInstallation = true
	if err := config.AddPostStartHook("default-namespace", createDefaultNamespace); err != nil {
		return nil, err
	}
	server, err := config.Complete(nil).New("generic", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	return server, install(server, scheme, config.RESTOptionsGetter)
}

// install makes the server serve the resources, a group at a time.
func install(server *genericapiserver.GenericAPIServer, scheme *runtime.Scheme, options genericregistry.RESTOptionsGetter) error {
	served := map[schema.GroupVersion]map[string]rest.Storage{}
	for _, r := range resources {
		storages, err := r.storages(scheme, options)
		if err != nil {
			return err
		}
		if served[r.version] == nil {
			served[r.version] = map[string]rest.Storage{}
		}
		maps.Copy(served[r.version], storages)
	}
	parameters := runtime.NewParameterCodec(scheme)
	for version, storages := range served {
		info := genericapiserver.NewDefaultAPIGroupInfo(version.Group, scheme, parameters, serializer.NewCodecFactory(scheme))
		info.PrioritizedVersions = []schema.GroupVersion{version}
		info.VersionedResourcesStorageMap[version.Version] = storages
		var err error
		if version == corev1.SchemeGroupVersion {
			err = server.InstallLegacyAPIGroup(genericapiserver.DefaultLegacyAPIPrefix, &info)
		} else {
			err = server.InstallAPIGroup(&info)
		}
		if err != nil {
			return fmt.Errorf("install %s: %w", version, err)
		}
	}
	return nil
}

// createDefaultNamespace creates the namespace "default", unless an earlier run
// has. The server is not ready before.
func createDefaultNamespace(hook genericapiserver.PostStartHookContext) error {
	client, err := kubernetes.NewForConfig(hook.LoopbackClientConfig)
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceDefault}}
	_, err = client.CoreV1().Namespaces().Create(hook, namespace, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

package reference_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

// A reconcile function reads a Secret by its name. Of all Secrets, only those that are read
// are requested and stored.
func ExampleGet() {
	server, err := apitest.NewServer(apitest.WithObjects(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "tls"}, Data: map[string][]byte{"key": []byte("k")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other"}},
	))
	if err != nil {
		log.Fatal(err)
	}
	config := server.Config() // in a program, from rest.InClusterConfig or clientcmd

	secrets := reference.NewSource[index.Key](func(k index.Key) source.Source[*corev1.Secret] {
		return kube.FromREST[*corev1.Secret](config, kube.WithName(k))
	})
	informer := typed.NewInformer(secrets)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- informer.Run(ctx) }()

	for _, name := range []string{"tls", "missing"} {
		secret, exists, err := reference.Get(ctx, secrets, informer, index.Key{Namespace: "shop", Name: name})
		switch {
		case err != nil: // refused, for example: it says nothing about the Secret
			log.Fatal(err)
		case exists:
			fmt.Printf("%s: %s\n", name, secret.Data["key"])
		default:
			fmt.Printf("%s does not exist\n", name)
		}
	}
	fmt.Println("stored:", informer.Len())

	cancel()
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
	if err := server.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// tls: k
	// missing does not exist
	// stored: 1
}

// secretsOf returns the keys of the Secrets that an Ingress names.
func secretsOf(ingress *networkingv1.Ingress) (keys []index.Key) {
	for _, tls := range ingress.Spec.TLS {
		keys = append(keys, index.Key{Namespace: ingress.Namespace, Name: tls.SecretName})
	}
	return keys
}

// An Ingress is reconciled when the Secret that it names appears.
func ExampleEnqueueReferrers() {
	server, err := apitest.NewServer(apitest.WithObjects(&networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec:       networkingv1.IngressSpec{TLS: []networkingv1.IngressTLS{{SecretName: "tls"}}},
	}))
	if err != nil {
		log.Fatal(err)
	}
	config := server.Config()
	ingresses := typed.NewInformer(kube.FromREST[*networkingv1.Ingress](config))
	q, err := queue.NewWorkQueue[index.Key]()
	if err != nil {
		log.Fatal(err)
	}

	secrets := reference.NewSource[index.Key](func(k index.Key) source.Source[*corev1.Secret] {
		return kube.FromREST[*corev1.Secret](config, kube.WithName(k))
	})
	informer := typed.NewInformer(secrets)
	err = reference.From(secrets, ingresses, secretsOf)
	if err != nil {
		log.Fatal(err)
	}
	stop, err := reference.EnqueueReferrers(q, secrets, ingresses, secretsOf)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	for _, run := range []func(context.Context) error{ingresses.Run, informer.Run} {
		go func() { ended <- run(ctx) }()
	}

	for _, secret := range []*corev1.Secret{nil, {ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "tls"}}} {
		if secret != nil {
			if err := server.Create(ctx, secret); err != nil {
				log.Fatal(err)
			}
		}
		key, err := q.GetContext(ctx) // in a program, control.Run calls the reconcile function
		if err != nil {
			log.Fatal(err)
		}
		_, exists, err := reference.Get(ctx, secrets, informer, index.Key{Namespace: "shop", Name: "tls"})
		fmt.Println(key, exists, err)
		q.Done(key)
	}

	stop()
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			log.Fatal(err)
		}
	}
	q.ShutDown()
	if err := server.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// shop/web false <nil>
	// shop/web true <nil>
}

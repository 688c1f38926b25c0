package main

import (
	"context"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubetyped/informer/index"
)

// changed is the annotation of a Secret that says when it was changed, in nanoseconds.
const changed = "example.com/changed"

// bySecret is the name of the index of Ingresses by the Secrets that they name.
const bySecret = "secrets"

// secretsOf returns the keys of the Secrets that an Ingress names.
func secretsOf(ingress *networkingv1.Ingress) (keys []index.Key) {
	for _, tls := range ingress.Spec.TLS {
		keys = append(keys, index.Key{Namespace: ingress.Namespace, Name: tls.SecretName})
	}
	return keys
}

// namesOf returns them as indexes of client-go have them.
func namesOf(ingress *networkingv1.Ingress) (names []string) {
	for _, key := range secretsOf(ingress) {
		names = append(names, key.String())
	}
	return names
}

// reconcile reads the Secrets of an Ingress; nil stands for one that does not exist.
func (p *program) reconcile(ctx context.Context, ingress *networkingv1.Ingress, read func(context.Context, index.Key) (*corev1.Secret, error)) error {
	missing := false
	for _, key := range secretsOf(ingress) {
		secret, err := read(ctx, key)
		if err != nil {
			return err
		}
		missing = missing || secret == nil
		if secret != nil {
			p.saw(secret)
		}
	}
	if !missing {
		p.pass(index.KeyOf(ingress).String())
	}
	return nil
}

// saw prints how long ago a Secret was changed that was read, once.
func (p *program) saw(secret *corev1.Secret) {
	stamp := secret.Annotations[changed]
	at, err := strconv.ParseInt(stamp, 10, 64)
	p.mu.Lock()
	before, known := p.stamps[secret.Name]
	if p.stamps == nil {
		p.stamps = map[string]string{}
	}
	p.stamps[secret.Name] = stamp
	p.mu.Unlock()
	if known && stamp != before && err == nil {
		p.print(Line{Event: "changed", Secret: secret.Name, Took: time.Since(time.Unix(0, at))})
	}
}

// pass notes that an Ingress was reconciled with all its Secrets.
func (p *program) pass(ingress string) {
	p.mu.Lock()
	if p.passed == nil {
		p.passed = map[string]bool{}
	}
	last := !p.passed[ingress] && len(p.passed) == *ingresses-1
	p.passed[ingress] = true
	p.mu.Unlock()
	if last {
		p.print(Line{Event: "synced", Took: time.Since(p.begin)})
	}
}

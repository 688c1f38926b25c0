package apitest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	certificatesv1 "k8s.io/api/certificates/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/apitest"
)

// TestNamesWithColons: some kinds of Kubernetes have names that are no DNS subdomains.
func TestNamesWithColons(t *testing.T) {
	srv := apitest.Start(t)
	client := clientset(t, srv, "")
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	certificates, options := client.CertificatesV1(), metav1.CreateOptions{}

	_, err := certificates.ClusterTrustBundles().Create(t.Context(), &certificatesv1.ClusterTrustBundle{ObjectMeta: named("example.com:signer:root")}, options)
	assert.NoError(t, err)
	_, err = certificates.CertificateSigningRequests().Create(t.Context(), &certificatesv1.CertificateSigningRequest{ObjectMeta: named("node:A")}, options)
	assert.NoError(t, err)
	_, err = client.NetworkingV1().IPAddresses().Create(t.Context(), &networkingv1.IPAddress{ObjectMeta: named("2001:db8::1")}, options)
	assert.NoError(t, err)
	_, err = certificates.ClusterTrustBundles().Create(t.Context(), &certificatesv1.ClusterTrustBundle{ObjectMeta: named("a/b")}, options)
	assert.True(t, apierrors.IsInvalid(err), "%v", err)
	_, err = client.NetworkingV1().IngressClasses().Create(t.Context(), &networkingv1.IngressClass{ObjectMeta: named("a:b")}, options)
	assert.True(t, apierrors.IsInvalid(err), "%v", err)
}

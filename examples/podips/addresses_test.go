package main

import (
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/apitest"
)

func podWith(name string, ips ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	for _, ip := range ips {
		pod.Status.PodIPs = append(pod.Status.PodIPs, corev1.PodIP{IP: ip})
	}
	return pod
}

// TestAddressesOfPods follows Pods as they come and change.
func TestAddressesOfPods(t *testing.T) {
	srv := apitest.Start(t, apitest.WithObjects(podWith("web-0", "10.0.0.7", "fd00::7")))
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	a, err := newAddresses(client)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.pods.Run(ctx) }()
	require.NoError(t, a.pods.WaitForSync(ctx))
	who := func(ip string) []string {
		var names []string
		for _, pod := range a.podByIP.Get(netip.MustParseAddr(ip)) {
			names = append(names, pod.Name)
		}
		return names
	}
	assert.Equal(t, []string{"web-0"}, who("fd00:0::7"))

	require.NoError(t, srv.Create(ctx, podWith("web-1", "10.0.0.8")))
	require.NoError(t, srv.Update(ctx, podWith("web-0", "10.0.0.9")))
	require.NoError(t, a.pods.WaitForResourceVersion(ctx, srv.ResourceVersion()))
	assert.Equal(t, []string{"web-1"}, who("10.0.0.8"))
	assert.Equal(t, []string{"web-0"}, who("10.0.0.9"))
	assert.Empty(t, who("10.0.0.7"))
	stop()
	assert.NoError(t, <-ended)
}

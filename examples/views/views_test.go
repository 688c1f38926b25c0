package main

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/apitest"
)

func TestEndpointsByZone(t *testing.T) {
	inShop(t, func(t *testing.T, srv *apitest.Server, c *collections) {
		assert.Equal(t, map[string][]string{"east": {"10.0.0.1", "10.0.0.2", "10.0.0.3"}}, of(t, c.endpoints, "shop", "web").ByZone)

		require.NoError(t, srv.Update(t.Context(), newPod("web-0", "node-a", "10.0.0.1", false), newNode("node-b", "west")))
		assert.Equal(t, map[string][]string{"east": {"10.0.0.2"}, "west": {"10.0.0.3"}}, of(t, c.endpoints, "shop", "web").ByZone)

		require.NoError(t, srv.Create(t.Context(), newPod("web-9", "node-c", "10.0.0.9", true)))
		assert.Equal(t, []string{"10.0.0.9"}, of(t, c.endpoints, "shop", "web").ByZone["no zone"], "its Node has not come yet")
		require.NoError(t, srv.Create(t.Context(), newNode("node-c", "west")))
		assert.Equal(t, []string{"10.0.0.3", "10.0.0.9"}, of(t, c.endpoints, "shop", "web").ByZone["west"])
	})
}

// TestEndpointsStay: a Node whose zone stays changes no endpoints, and not the object.
func TestEndpointsStay(t *testing.T) {
	inShop(t, func(t *testing.T, srv *apitest.Server, c *collections) {
		before := of(t, c.endpoints, "shop", "web")
		node := newNode("node-a", "east")
		node.Status.Allocatable = nil
		require.NoError(t, srv.Update(t.Context(), node))
		assert.Same(t, before, of(t, c.endpoints, "shop", "web"))
		status, err := c.endpoints.view.Status(t.Context())
		require.NoError(t, err)
		computed := map[string]int{}
		for _, stage := range status.Stages {
			computed[stage.Name] = stage.Computed
		}
		assert.Equal(t, 3, computed["zones"], "two at first, and then the one")
		assert.Equal(t, 1, computed["endpoints"])
	})
}

func TestLoadOfNodes(t *testing.T) {
	inShop(t, func(t *testing.T, srv *apitest.Server, c *collections) {
		cpu := func(node string) string { return of(t, c.load, "", node).CPU.String() }
		assert.Equal(t, []string{"1", "500m"}, []string{cpu("node-a"), cpu("node-b")})

		large := newPod("web-2", "node-b", "10.0.0.3", true)
		large.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2500m")
		ended := newPod("web-1", "node-a", "10.0.0.2", false)
		ended.Status.Phase = corev1.PodSucceeded
		require.NoError(t, srv.Update(t.Context(), large, ended))
		assert.Equal(t, []string{"500m", "2500m"}, []string{cpu("node-a"), cpu("node-b")})
		free := of(t, c.load, "", "node-b").FreeCPU
		assert.Equal(t, "1500m", free.String())

		require.NoError(t, srv.Delete(t.Context(), newPod("web-0", "", "", false), newPod("web-2", "", "", false)))
		assert.Equal(t, []string{"0", "0"}, []string{cpu("node-a"), cpu("node-b")}, "a Node without Pods has a Load")
		require.NoError(t, srv.Delete(t.Context(), newNode("node-b", "")))
		synctest.Wait()
		assert.Equal(t, 1, c.load.informer.Len())
	})
}

func TestRestarts(t *testing.T) {
	inShop(t, func(t *testing.T, srv *apitest.Server, c *collections) {
		synctest.Wait()
		assert.Zero(t, c.restarts.informer.Len())

		require.NoError(t, srv.Update(t.Context(), newConfigMap("debug")))
		restart := of(t, c.restarts, "shop", "web")
		assert.Equal(t, []string{"web-0", "web-1", "web-2"}, restart.Pods)

		// One was started with the new configuration.
		pod := newPod("web-1", "node-a", "10.0.0.2", true)
		pod.Annotations[checksumAnnotation] = restart.Checksum
		require.NoError(t, srv.Update(t.Context(), pod))
		assert.Equal(t, []string{"web-0", "web-2"}, of(t, c.restarts, "shop", "web").Pods)

		// It mounts a Secret as well, of the ConfigMap's name.
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "secret", VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: "web"},
		}})
		require.NoError(t, srv.Update(t.Context(), pod))
		assert.Len(t, of(t, c.restarts, "shop", "web").Pods, 2, "the Secret is not there yet")
		require.NoError(t, srv.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Data: map[string][]byte{"password": []byte("secret")},
		}))
		assert.Equal(t, []string{"web-0", "web-1", "web-2"}, of(t, c.restarts, "shop", "web").Pods)

		require.NoError(t, srv.Update(t.Context(), newConfigMap("info")))
		assert.Equal(t, []string{"web-1"}, of(t, c.restarts, "shop", "web").Pods, "the others have what they were started with")
	})
}

func TestQuotas(t *testing.T) {
	inShop(t, func(t *testing.T, srv *apitest.Server, c *collections) {
		assert.Empty(t, of(t, c.usage, "shop", "small").Exceeded)
		require.NoError(t, srv.Create(t.Context(), newPod("web-3", "", "", false)))
		usage := of(t, c.usage, "shop", "small")
		assert.Equal(t, []string{"pods"}, usage.Exceeded)
		assert.Equal(t, "2", usage.CPU.String())

		require.NoError(t, srv.Update(t.Context(), &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "small"},
			Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
				corev1.ResourceRequestsCPU: resource.MustParse("1999m"), corev1.ResourceRequestsMemory: resource.MustParse("1Gi"),
			}},
		}))
		assert.Equal(t, []string{"CPU"}, of(t, c.usage, "shop", "small").Exceeded)
	})
}

func TestProxies(t *testing.T) {
	inShop(t, func(t *testing.T, srv *apitest.Server, c *collections) {
		hosts := func() map[string][]string { return of(t, c.proxies, "shop", "public").Hosts }
		assert.Equal(t, map[string][]string{"shop.example": {"10.0.0.1", "10.0.0.2"}}, hosts())

		require.NoError(t, srv.Create(t.Context(), newRoute("admin", "admin.example", 8080)))
		assert.Empty(t, hosts()["admin.example"], "the Service has no such port")
		assert.Contains(t, hosts(), "admin.example")

		require.NoError(t, srv.Update(t.Context(), newSlice("10.0.0.2"), newRoute("admin", "admin.example", 80)))
		assert.Equal(t, map[string][]string{"shop.example": {"10.0.0.2"}, "admin.example": {"10.0.0.2"}}, hosts())

		require.NoError(t, srv.Delete(t.Context(), newRoute("all", "", 0)))
		assert.Equal(t, map[string][]string{"admin.example": {"10.0.0.2"}}, hosts())
	})
}

package fleet_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// One informer has the Pods of two clusters.
func ExampleNewSource() {
	clusters := &fleet.Clusters{}
	for _, name := range []string{"east", "west"} {
		web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", Labels: map[string]string{"of": name}}}
		srv, err := apitest.NewServer(apitest.WithObjects(web))
		if err != nil {
			log.Fatal(err)
		}
		defer srv.Close()
		if err := clusters.Add(fleet.Cluster{Name: name, Config: srv.Config()}); err != nil {
			log.Fatal(err)
		}
	}

	pods := fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] {
		return kube.FromREST[*corev1.Pod](c.Config)
	})
	informer := typed.NewInformer(pods)
	ctx, stop := rig.RunInBackground(informer.Run)
	defer stop()
	if err := pods.WaitForSync(ctx, "east", "west"); err != nil {
		log.Fatal(err)
	}
	pod, _ := informer.Get(fleet.Key("west", "shop", "web-0"))
	fmt.Println(pod.Cluster(), pod.Namespace(), pod.GetName(), pod.Object.Labels)
	for _, s := range pods.Status() {
		fmt.Println(s.Cluster, s.Phase, s.Objects)
	}
	// Output:
	// west shop web-0 map[of:west]
	// east Synced 1
	// west Synced 1
}

package pods

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// pod is what identifies a Pod, and the source of all that differs in it.
type pod struct {
	app
	i         int // its number in the cluster
	namespace string
	nodes     int
}

func (c Cluster) pod(i int) pod {
	n := c.AppOf(i)
	return pod{app{c.Seed, n}, i, c.Namespaces[n%len(c.Namespaces)], c.Nodes}
}

// identify sets what is Outline's in a Pod.
func (p pod) identify(pod *corev1.Pod, version int) {
	pod.Name = p.name()
	pod.Namespace = strings.Clone(p.namespace)
	pod.UID = uid(p.random(ofUID))
	pod.ResourceVersion = strconv.Itoa(version*10_000_000 + p.i)
	pod.Labels = p.labels()
	pod.Spec.NodeName = NodeName(p.node())
	host, own := nodeIP(p.node()), podIP(p.i)
	pod.Status.HostIP, pod.Status.HostIPs = host, []corev1.HostIP{{IP: host}}
	pod.Status.PodIP, pod.Status.PodIPs = own, []corev1.PodIP{{IP: own}}
}

// random returns a random number of the Pod.
func (p pod) random(of uint64) uint64 {
	return splitmix(splitmix(p.seed^0x90d) + uint64(p.i)<<8 + of)
}

func (p pod) name() string { return p.replicaSet() + "-" + suffix(uint64(p.i)+p.seed) }

func (p pod) node() int { return int(p.random(ofNode) % uint64(p.nodes)) }

// token is the name of the volume with the Pod's token.
func (p pod) token() string { return "kube-api-access-" + letters(p.random(ofToken), 5) }

// created is when the Pod was: within two days of its template.
func (p pod) created() time.Time {
	return p.deployed().Add(time.Duration(p.random(ofTime)%(48*3600)) * time.Second)
}

// begun is when the Pod's containers began to run.
func (p pod) begun() time.Time {
	return p.created().Add(time.Duration(2+p.random(ofTime)%7) * time.Second)
}

// reported is when the kubelet wrote a version.
func (p pod) reported(version int) time.Time {
	return p.begun().Add(time.Duration(11+version*97) * time.Second)
}

func (p pod) labels() map[string]string {
	return map[string]string{
		AppLabel:            p.app.name(),
		VersionLabel:        p.version(),
		TierLabel:           strings.Clone(Tier(p.number)),
		"pod-template-hash": p.templateHash(),
	}
}

func (p pod) annotations() map[string]string {
	ip := podIP(p.i)
	return map[string]string{
		"cni.projectcalico.org/containerID": hash(p.random(ofSandbox)),
		"cni.projectcalico.org/podIP":       ip + "/32",
		"cni.projectcalico.org/podIPs":      ip + "/32",
		"prometheus.io/scrape":              "true",
	}
}

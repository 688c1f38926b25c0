// Package v1 is a stub.
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type EnvVar struct{ Name, Value string }

type Container struct {
	Name, Image string
	Env         []EnvVar
}

type PodSpec struct {
	NodeName   string
	Containers []Container
	Affinity   *Affinity
}

type Affinity struct{ Node *string }

type PodStatus struct{ Phase string }

type Pod struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec   PodSpec
	Status PodStatus
}

func (p *Pod) DeepCopy() *Pod                 { return new(Pod) }
func (p *Pod) DeepCopyInto(out *Pod)          { *out = *p }
func (p *Pod) DeepCopyObject() runtime.Object { return p.DeepCopy() }

type PodList struct {
	metav1.TypeMeta
	Items []Pod
}

func (p *PodList) DeepCopyObject() runtime.Object { return p }

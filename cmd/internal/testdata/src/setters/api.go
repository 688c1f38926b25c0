// Code generated as if it were of another module. DO NOT EDIT.

package setters

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Source struct {
	metav1.ObjectMeta
	Status Status
}

func (s *Source) DeepCopy() *Source { return s }

func (s *Source) SetError(reason string) { s.Status.Reason = reason }

func (s *Source) Settle() {}

type Status struct {
	Reason     string
	Conditions []string
}

func (s *Status) SetCondition(condition string) { s.Conditions = append(s.Conditions, condition) }

func (s Status) SetNothing() {}

type SourceLister interface {
	Get(name string) (*Source, error)
}

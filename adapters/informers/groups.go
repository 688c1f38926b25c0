package informers

import (
	"k8s.io/client-go/informers/admissionregistration"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/autoscaling"
	"k8s.io/client-go/informers/batch"
	"k8s.io/client-go/informers/certificates"
	"k8s.io/client-go/informers/coordination"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/discovery"
	"k8s.io/client-go/informers/events"
	"k8s.io/client-go/informers/flowcontrol"
	"k8s.io/client-go/informers/networking"
	"k8s.io/client-go/informers/node"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/rbac"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/informers/storagemigration"
)

// The API groups that have stable versions.

func (f *factory) Admissionregistration() admissionregistration.Interface {
	return admissionregistration.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Apps() apps.Interface {
	return apps.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Autoscaling() autoscaling.Interface {
	return autoscaling.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Batch() batch.Interface {
	return batch.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Certificates() certificates.Interface {
	return certificates.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Coordination() coordination.Interface {
	return coordination.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Core() core.Interface {
	return core.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Discovery() discovery.Interface {
	return discovery.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Events() events.Interface {
	return events.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Flowcontrol() flowcontrol.Interface {
	return flowcontrol.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Networking() networking.Interface {
	return networking.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Node() node.Interface {
	return node.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Policy() policy.Interface {
	return policy.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Rbac() rbac.Interface {
	return rbac.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Resource() resource.Interface {
	return resource.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Scheduling() scheduling.Interface {
	return scheduling.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Storage() storage.Interface {
	return storage.New(generated{f}, f.namespace, f.tweak)
}

func (f *factory) Storagemigration() storagemigration.Interface {
	return storagemigration.New(generated{f}, f.namespace, f.tweak)
}

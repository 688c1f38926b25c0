package factories

import other "k8s.io/client-go/informers"

// Callers that get a factory need no change.
func pods(factory other.SharedInformerFactory) other.PodInformer { return factory.Pods() }

package factories

import other "k8s.io/client-go/informers"

// Whoever is given a factory needs no change.
func pods(factory other.SharedInformerFactory) other.PodInformer { return factory.Pods() }

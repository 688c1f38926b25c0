// Package reference follows the objects that others name, and nothing else: the Secrets of
// Ingresses, the ConfigMaps of Pods. Each has its own list and watch by its name, so a program
// needs the right to read these alone, and pays for these alone:
//
//	secrets := reference.NewSource[index.Key](func(k index.Key) source.Source[*corev1.Secret] {
//		return kube.FromREST[*corev1.Secret](config, kube.WithName(k))
//	})
//	informer := typed.NewInformer(secrets)
//	secret, exists, err := reference.Get(ctx, secrets, informer, key)
//
// [Source] is the specification. [Source.Hold] holds keys for an owner, [From] for each object
// of another informer, and [Get] for as long as it reads. [EnqueueReferrers] has the objects
// reconciled that name what has changed.
//
// RBAC allows that with resourceNames and the verbs list and watch. A watch outlives the right
// to it by up to ten minutes. With the right to get alone, objects cannot be followed: Get
// returns the server's error, which names the verb.
//
// Read source.go first, then hold.go, which decides what is followed, group.go and sink.go,
// which bring the reports of all keys into one order, and get.go.
package reference

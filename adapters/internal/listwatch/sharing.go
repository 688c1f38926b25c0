package listwatch

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// Sharing is a ListerWatcher whose user may have it decode objects itself, which share
// parts then.
type Sharing struct {
	cache.ListerWatcher // that of the client's methods

	share func(held func(index.Key) (metav1.Object, bool)) (cache.ListerWatcher, func())
}

// Share returns what to list and watch with instead of the client's methods, and a
// function that waits until all of its watches, which have to be stopped before, have
// ended. Objects share parts with each other, and with those that held returns. If the
// client's requests are not known, it returns the ListerWatcher of its methods.
func (s *Sharing) Share(held func(index.Key) (metav1.Object, bool)) (lw cache.ListerWatcher, wait func()) {
	if lw, wait = s.share(held); lw == nil {
		return s.ListerWatcher, func() {}
	}
	return lw, wait
}

// NewSharing is New for a client that decodes objects itself if its user wants that.
func NewSharing[T index.Object, L runtime.Object](client func() kube.Client[T, L], clientset any, tweaks ...func(*metav1.ListOptions)) *Sharing {
	return &Sharing{
		ListerWatcher: New(func() Client[L] { return client() }, clientset, tweaks...),
		share: func(held func(index.Key) (metav1.Object, bool)) (cache.ListerWatcher, func()) {
			decoding, ok := kube.NewDecodingClient(client(), func(key index.Key) (T, bool) {
				untyped, found := held(key)
				obj, ok := untyped.(T)
				return obj, found && ok
			})
			if !ok {
				return nil, nil
			}
			return New(func() Client[runtime.Object] { return decoding }, clientset, tweaks...), decoding.Wait
		},
	}
}

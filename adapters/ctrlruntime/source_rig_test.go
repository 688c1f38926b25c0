package ctrlruntime_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

type (
	sink     = source.Sink[*corev1.ConfigMap]
	informer = typed.Informer[*corev1.ConfigMap]
)

// script is a source of an informer whose reports the test makes itself.
type script struct {
	started chan sink
	fail    chan error
}

func newScript() *script { return &script{started: make(chan sink, 1), fail: make(chan error, 1)} }

func (s *script) Run(ctx context.Context, to sink) error {
	s.started <- to
	select {
	case err := <-s.fail:
		return err
	case <-ctx.Done():
		return nil
	}
}

// scene is a running informer and the context of a controller.
type scene struct {
	*informer
	sink sink
	fail chan<- error    // ends the informer
	ctx  context.Context // of the controller
	stop context.CancelFunc
}

// inScene runs a test in a bubble.
func inScene(t *testing.T, test func(t *testing.T, s *scene)) {
	synctest.Test(t, func(t *testing.T) {
		from := newScript()
		inf := typed.NewInformer[*corev1.ConfigMap](from, typed.WithName("config maps"))
		running, end := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- inf.Run(running) }()
		ctx, stop := context.WithCancel(context.Background())
		defer func() {
			stop()
			end()
			<-ended
		}()
		test(t, &scene{informer: inf, sink: <-from.started, fail: from.fail, ctx: ctx, stop: stop})
	})
}

// cm is a ConfigMap at a version.
func cm(name string, version int) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: strconv.Itoa(version)}}
}

package demo

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestStartChangesThePods watches until the visitor has come and gone.
func TestStartChangesThePods(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	require.NoError(t, start(ctx, "", func(ctx context.Context, config *rest.Config, out io.Writer) error {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		w, err := client.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=visitor"})
		if err != nil {
			return err
		}
		defer w.Stop()
		for range 3 {
			e := <-w.ResultChan()
			_, _ = io.WriteString(out, string(e.Type)+"\n")
		}
		cancel()
		return nil
	}, &out))
	assert.Equal(t, "ADDED\nMODIFIED\nDELETED\n", out.String())
}

func TestStartWithoutKubeconfig(t *testing.T) {
	assert.ErrorContains(t, start(t.Context(), "/nowhere", nil, io.Discard), "/nowhere")
}

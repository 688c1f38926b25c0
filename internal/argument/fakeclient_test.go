package argument_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/internal/argument"
)

// embeds is a clientset of a program's own, made of a fake.
type embeds struct{ *fake.Clientset }

// TestIsFakeClient: clientsets and their typed clients are recognized, real ones and nil are not.
func TestIsFakeClient(t *testing.T) {
	fakes := fake.NewClientset()
	real, err := kubernetes.NewForConfig(&rest.Config{Host: "127.0.0.1:1"})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		client any
		is     bool
	}{
		"clientset":                  {fakes, true},
		"typed client":               {fakes.CoreV1().Pods(""), true},
		"embedded clientset":         {embeds{fakes}, true},
		"real clientset":             {real, false},
		"typed client of a real one": {real.CoreV1().Pods(""), false},
		"nil":                        {nil, false},
	} {
		assert.Equal(t, test.is, argument.IsFakeClient(test.client), name)
	}
}

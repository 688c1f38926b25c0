package control_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/report"
)

// reported is an informer with a status.
type reported struct {
	typed.AnyInformer
	status report.Status
}

func (r reported) Status() report.Status { return r.status }

// TestReady: it is nil when all informers are synced, and otherwise an error with each that is
// not, and why.
func TestReady(t *testing.T) {
	synced := reported{status: report.Status{Name: "pods", Phase: report.PhaseSynced, Err: io.EOF}}
	require.NoError(t, control.Ready(synced, synced), "its server may be away by now")
	require.NoError(t, control.Ready())

	err := control.Ready(
		reported{status: report.Status{Name: "a", Phase: report.PhaseSyncing, Err: io.ErrUnexpectedEOF}},
		synced,
		reported{status: report.Status{Name: "b"}},
		reported{status: report.Status{Name: "c", Phase: report.PhaseSyncing, Received: 7}},
		reported{status: report.Status{Name: "d", Phase: report.PhaseSyncing}},
		reported{status: report.Status{Name: "e", Phase: report.PhaseStopped}},
		nil, (*typed.Informer[*rig.Thing])(nil),
	)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, `informer a is not synced: unexpected EOF
informer b was not started
informer c is not synced: 7 objects are there
informer d is not synced: its server has not answered
informer e has stopped
Ready: informer is nil
Ready: informer is nil`, err.Error())
}

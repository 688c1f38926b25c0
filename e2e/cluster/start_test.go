package cluster

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/util/wait"
)

// abandonVariable makes the test binary play a program that starts a cluster
// and never stops it.
const abandonVariable = "E2E_TEST_ABANDON"

func TestMain(m *testing.M) {
	if os.Getenv(abandonVariable) != "" {
		if err := abandonCluster(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// abandonCluster starts a cluster, prints its folder and address, and waits until this process
// is killed.
func abandonCluster() error {
	c, err := Start(context.Background())
	if err != nil {
		return err
	}
	fmt.Println(c.dir, c.address())
	select {}
}

func TestServersEndWithTheirParent(t *testing.T) {
	t.Run("alone", func(t *testing.T) {
		testServersEndWithTheirParent(t, func(parent int) error { return syscall.Kill(parent, syscall.SIGKILL) })
	})
	t.Run("in a group", func(t *testing.T) {
		// As timeout(1) ends a program, and everything that it has started.
		testServersEndWithTheirParent(t, func(parent int) error { return syscall.Kill(-parent, syscall.SIGTERM) })
	})
}

func testServersEndWithTheirParent(t *testing.T, end func(parent int) error) {
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	parent.Env = append(os.Environ(), abandonVariable+"=1")
	parent.Stderr = t.Output()
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	var dir, address string
	_, err = fmt.Fscanln(out, &dir, &address)
	require.NoError(t, err)
	// An open file can be read after its folder is gone.
	log, err := os.Open(filepath.Join(dir, "apiserver.log"))
	require.NoError(t, err)
	defer log.Close()

	require.NoError(t, end(parent.Process.Pid))
	require.Error(t, parent.Wait(), "it was killed")

	gone := func(context.Context) (bool, error) {
		_, statErr := os.Stat(dir)
		conn, dialErr := net.Dial("tcp", address)
		if dialErr == nil {
			return false, conn.Close()
		}
		// It says so just before it exits; a graceful stop without etcd
		// would take minutes.
		lines, err := io.ReadAll(io.NewSectionReader(log, 0, math.MaxInt64))
		return os.IsNotExist(statErr) && strings.Contains(string(lines), "parent process is gone"), err
	}
	err = wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 20*time.Second, true, gone)
	assert.NoError(t, err, "something is left of the cluster in %s at %s", dir, address)
}

func TestStartReturnsTheFailureAndLeavesNothing(t *testing.T) {
	tests := []struct {
		name string
		opts []Option
		want string
	}{
		{"WrongFlag", []Option{WithAPIServerFlags("--no-such-flag")}, "unknown flag: --no-such-flag"},
		{"NoSuchBinary", []Option{WithBinary("no/such/file")}, "no such file"},
		{"BinaryIsFolder", []Option{WithBinary(".")}, "is a folder"},
		{"EmptyBinary", []Option{WithBinary("")}, "path is empty"},
		{"NilProgress", []Option{WithProgress(nil)}, "writer is nil"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)

			c, err := Start(t.Context(), test.opts...)

			assert.Nil(t, c)
			require.ErrorContains(t, err, test.want)
			left, err := os.ReadDir(temp)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// When the context ends after the servers were started.
	progress := writer(func(line string) {
		if strings.HasPrefix(line, "starting") {
			cancel()
		}
	})

	_, err := Start(ctx, WithProgress(progress))

	require.ErrorIs(t, err, context.Canceled)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// writer is an io.Writer that calls a function with each text written.
type writer func(string)

func (w writer) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}

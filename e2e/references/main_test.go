package references

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/e2e/cluster"
	"github.com/kubetyped/informer/e2e/target"
)

// server is what the controllers run on.
var server *target.Target

// auditLog is the file that the API server writes requests of Secrets to.
var auditLog string

const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  resources: [{group: "", resources: [secrets]}]
- level: None
`

func TestMain(m *testing.M) {
	flag.Parse()
	klog.SetLogger(klog.Logger{}) // requests that fail are what this is about
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "e2e-references-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	auditLog = filepath.Join(dir, "audit.log")
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return target.Main(m, &server, cluster.WithAPIServerFlags("--audit-policy-file="+policy, "--audit-log-path="+auditLog))
}

// requested are the requests of Secrets that an account has made: of one name, and of all.
type requested struct {
	named, wide int
	forbidden   int // of both
}

// requestsOf reads the audit log.
func requestsOf(t *testing.T, account string) (r requested) {
	file, err := os.Open(auditLog)
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditv1.Event
		require.NoError(t, json.Unmarshal(lines.Bytes(), &event))
		if !strings.HasSuffix(event.User.Username, ":"+account) || event.Stage != "ResponseComplete" && event.Verb == "watch" {
			continue
		}
		if event.ResponseStatus != nil && event.ResponseStatus.Code == 403 {
			r.forbidden++
		}
		if event.ObjectRef.Name == "" {
			r.wide++
		} else {
			r.named++
		}
	}
	require.NoError(t, lines.Err())
	return r
}

package cluster

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// credentials are what the API server and its clients know each other by. They
// are made once for a cluster and outlive a restart of the API server, whose
// own loopback credentials do not.
type credentials struct {
	ca    []byte // PEM: the serving certificate and the one that signed it
	token string // of a member of system:masters

	certFile, keyFile string // what the API server serves TLS with
	serviceAccountKey string // file; signs service account tokens
	tokenFile         string // CSV of static tokens
	certDir           string // where the API server would put what it makes itself
}

// newCredentials makes fresh credentials and writes the API server's files to
// dir, which only the current user can read.
func newCredentials(dir string) (*credentials, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make credentials: %w", err)
	}
	cert, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, fmt.Errorf("make serving certificate: %w", err)
	}
	serviceAccountKey, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return nil, fmt.Errorf("make service account key: %w", err)
	}
	c := &credentials{
		ca:                cert,
		token:             rand.Text(),
		certFile:          filepath.Join(dir, "apiserver.crt"),
		keyFile:           filepath.Join(dir, "apiserver.key"),
		serviceAccountKey: filepath.Join(dir, "service-account.key"),
		tokenFile:         filepath.Join(dir, "tokens.csv"),
		certDir:           dir,
	}
	for file, content := range map[string][]byte{
		c.certFile:          cert,
		c.keyFile:           key,
		c.serviceAccountKey: serviceAccountKey,
		// token, user, user ID, groups
		c.tokenFile: []byte(c.token + `,e2e-admin,e2e-admin,"system:masters"` + "\n"),
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, fmt.Errorf("write credentials: %w", err)
		}
	}
	return c, nil
}

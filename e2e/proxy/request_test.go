package proxy

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRequests(t *testing.T) {
	for _, test := range []struct{ method, url, want string }{
		{"GET", "/api/v1/pods", "list pods"},
		{"GET", "/api/v1/namespaces/n/pods?watch=1", "watch pods n/"},
		{"GET", "/api/v1/namespaces/n/pods?watch=0", "list pods n/"},
		{"GET", "/api/v1/namespaces/n/pods/p", "get pods n/p"},
		{"GET", "/api/v1/namespaces/n/pods/p/log", "get pods n/p"},
		{"POST", "/api/v1/namespaces/n/pods", "create pods n/"},
		{"PUT", "/apis/apps/v1/namespaces/n/deployments/d/status", "update deployments.apps n/d"},
		{"PATCH", "/apis/apps/v1/namespaces/n/deployments/d", "patch deployments.apps n/d"},
		{"DELETE", "/apis/apps/v1/namespaces/n/deployments/d", "delete deployments.apps n/d"},
		{"DELETE", "/apis/apps/v1/namespaces/n/deployments", "deletecollection deployments.apps n/"},
		{"GET", "/api/v1/namespaces", "list namespaces"},
		{"GET", "/api/v1/namespaces/n", "get namespaces n"},
		{"PUT", "/api/v1/namespaces/n/finalize", "update namespaces n"},
		{"GET", "/apis/apps/v1", "get "},
		{"GET", "/api", "get "},
		{"GET", "/readyz", "get "},
		{"OPTIONS", "/", "options "},
	} {
		t.Run(test.method+" "+test.url, func(t *testing.T) {
			assert.Equal(t, test.want, parseRequest(httptest.NewRequest(test.method, test.url, nil)).String())
		})
	}
}

package apitest

import (
	"encoding/base64"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// continuation is a continue token: opaque to clients, in Kubernetes' own
// spelling so that tests which look inside find what they know.
type continuation struct {
	Version string `json:"v"`
	// Revision is that of the first page; -1 continues at the present.
	Revision int64 `json:"rv"`
	// Start is the first key that may come next, without the list's prefix.
	Start string `json:"start"`
}

const continuationVersion = "meta.k8s.io/v1"

func (c continuation) encode() string {
	c.Version = continuationVersion
	return base64.RawURLEncoding.EncodeToString(must(json.Marshal(c)))
}

func decodeContinuation(token string) (continuation, error) {
	var c continuation
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return continuation{}, badToken("continue key is not valid")
	}
	switch {
	case c.Version != continuationVersion:
		return continuation{}, badToken("continue key is not valid: server does not recognize this encoded version " + c.Version)
	case c.Revision == 0:
		return continuation{}, badToken("continue key is not valid: incorrect encoded start resourceVersion")
	case c.Start == "":
		return continuation{}, badToken("continue key is not valid: encoded start key empty")
	}
	return c, nil
}

func badToken(problem string) error {
	return apierrors.NewBadRequest("invalid continue token: " + problem)
}

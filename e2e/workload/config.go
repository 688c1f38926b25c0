package workload

import (
	"bytes"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ConfigMap returns the ConfigMap of number i, with a file of about 2 KB.
func (o Objects) ConfigMap(i int) *corev1.ConfigMap {
	meta, app := o.meta(i)
	var file strings.Builder
	for line := range 40 {
		fmt.Fprintf(&file, "%s.setting-%02d.timeout = \"%ds\" # of %s\n", app, line, i%60, meta.Name)
	}
	return &corev1.ConfigMap{
		ObjectMeta: meta,
		Data:       map[string]string{"log.level": "info", app + ".toml": file.String()},
	}
}

// Secret returns the Secret of number i: some are a password, and the others a
// file of about 2 KB.
func (o Objects) Secret(i int) *corev1.Secret {
	meta, app := o.meta(i)
	if i%4 == 0 {
		return &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeBasicAuth, Data: map[string][]byte{
			corev1.BasicAuthUsernameKey: []byte(app),
			corev1.BasicAuthPasswordKey: []byte(hashOf(meta.Name)),
		}}
	}
	return &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeOpaque, Data: map[string][]byte{
		app + ".key": bytes.Repeat([]byte(hashOf(meta.Name)), 200),
	}}
}

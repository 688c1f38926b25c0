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

// Secret returns the Secret of number i. Some look like a certificate with its
// key, and the others like a password.
func (o Objects) Secret(i int) *corev1.Secret {
	meta, _ := o.meta(i)
	if i%4 == 0 {
		return &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeTLS, Data: map[string][]byte{
			corev1.TLSCertKey:       bytes.Repeat([]byte(meta.Name), 50),
			corev1.TLSPrivateKeyKey: bytes.Repeat([]byte(meta.Name), 60),
		}}
	}
	return &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeOpaque, Data: map[string][]byte{
		"username": []byte(meta.Name),
		"password": []byte(hashOf(meta.Name)),
	}}
}

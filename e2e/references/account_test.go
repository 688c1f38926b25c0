package references

import (
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// rights are the rights of an account to read Secrets of a namespace; without names, of all
// namespaces.
type rights struct {
	verbs []string
	names []string
}

// newAccount makes a ServiceAccount that may list and watch Ingresses, with rights to Secrets, and
// returns a configuration with its token.
func newAccount(t *testing.T, client kubernetes.Interface, namespace, name string, r rights) *rest.Config {
	t.Helper()
	_, err := client.CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}
	secrets := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: r.verbs, ResourceNames: r.names}
	wide := []rbacv1.PolicyRule{{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"ingresses"}, Verbs: []string{"list", "watch"}}}
	if r.names == nil {
		wide = append(wide, secrets)
	} else {
		giveNames(t, client, namespace, name, secrets, subjects)
	}
	meta := metav1.ObjectMeta{Name: namespace + "-" + name}
	_, err = client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: wide}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	hour := int64(3600)
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hour}}, metav1.CreateOptions{})
	require.NoError(t, err)
	config := rest.AnonymousClientConfig(server.Config())
	config.BearerToken = token.Status.Token
	return config
}

// giveNames makes a Role of Secrets by name.
func giveNames(t *testing.T, client kubernetes.Interface, namespace, name string, secrets rbacv1.PolicyRule, to []rbacv1.Subject) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: name}
	_, err := client.RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{secrets}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: to, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// setNames replaces the Secrets that an account may read.
func setNames(t *testing.T, client kubernetes.Interface, namespace, name string, names ...string) {
	t.Helper()
	role, err := client.RbacV1().Roles(namespace).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	role.Rules[0].ResourceNames = names
	_, err = client.RbacV1().Roles(namespace).Update(t.Context(), role, metav1.UpdateOptions{})
	require.NoError(t, err)
}

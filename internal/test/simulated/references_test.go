package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

// TestReferences: a controller that reads Secrets by reference never takes one for missing that
// exists, never goes back, and reconciles each ConfigMap with its Secrets as they are, while the
// right to read them comes and goes.
func TestReferences(t *testing.T) {
	simulation.Run(t, func(s *simulation.Simulation) { defineReferences(s, nil) })
}

// TestReferencesFindsABug puts one in: what is refused, or has not come yet, is taken for
// missing, as with a lister of all.
func TestReferencesFindsABug(t *testing.T) {
	found := simulation.Find(t, 20, func(s *simulation.Simulation) {
		defineReferences(s, func(r *referring, key index.Key) (*corev1.Secret, bool, error) {
			secret, exists := r.informer.Get(key)
			return secret, exists, nil
		})
	})
	if found == nil {
		t.Fatal("the bug was not found")
	}
	t.Log(found)
}

// readSecret reads a Secret in another way than by reference.Get.
type readSecret func(r *referring, key index.Key) (*corev1.Secret, bool, error)

func defineReferences(s *simulation.Simulation, read readSecret) {
	calm := time.Now().Add(longest)
	secrets := &secretLives{lives: map[string]*secretLife{}}
	s.Always("what there was", secrets.note)
	s.Start("controller", func(ctx context.Context, config *rest.Config) error {
		return runReferring(ctx, config, calm, secrets, read)
	})
	s.Do(writeReferences)
}

// secretLives are when Secrets have existed for sure, by UID.
type secretLives struct{ lives map[string]*secretLife }

// secretLife is that of one Secret: it existed at both versions, and between them.
type secretLife struct {
	key         index.Key
	first, last string
}

// note notes which Secrets exist now.
func (s *secretLives) note(now simulation.State) error {
	for _, secret := range simulation.Objects[*corev1.Secret](now) {
		life := s.lives[string(secret.UID)]
		if life == nil {
			life = &secretLife{key: index.KeyOf(secret), first: secret.ResourceVersion}
			s.lives[string(secret.UID)] = life
		}
		life.last = now.ResourceVersion()
	}
	return nil
}

// check returns an error if a Secret existed at the version at which it is said not to.
func (s *secretLives) check(key index.Key, version string) error {
	if version == "" {
		return fmt.Errorf("%s counts as absent, and no version says so", key)
	}
	for uid, life := range s.lives {
		if life.key == key && !older(version, life.first) && !older(life.last, version) {
			return fmt.Errorf("%s counts as absent at version %s, and %s existed from %s to %s", key, version, uid, life.first, life.last)
		}
	}
	return nil
}

// referring is a life of the controller.
type referring struct {
	parents  *typed.Informer[*corev1.ConfigMap]
	secrets  *reference.Source[index.Key, *corev1.Secret]
	informer *typed.Informer[*corev1.Secret]
	random   *rand.Rand
	read     readSecret

	missed map[index.Key]string // where a Secret was missing, and at which version
	done   map[index.Key]string // what ConfigMaps were reconciled with
	at     map[index.Key]string // the highest version of each Secret
	wrong  error
}

func runReferring(ctx context.Context, config *rest.Config, calm time.Time, all *secretLives, read readSecret) error {
	random := simulation.Random(ctx)
	refuseSome(config, random.Uint64(), calm)
	idle := someTime(random)
	r := &referring{
		parents: typed.NewInformer(kube.FromREST[*corev1.ConfigMap](config)),
		secrets: reference.NewSource[index.Key](func(k index.Key) source.Source[*corev1.Secret] {
			return kube.FromREST[*corev1.Secret](config, kube.WithName(k))
		}, reference.WithIdle(idle)),
		random: split(random), read: read,
		missed: map[index.Key]string{}, done: map[index.Key]string{}, at: map[index.Key]string{},
	}
	r.informer = typed.NewInformer(r.secrets)
	q, err := queue.NewWorkQueue[index.Key]()
	if err != nil {
		return err
	}
	stop, err := reference.EnqueueReferrers(q, r.secrets, r.parents, namedSecrets)
	if err != nil {
		return err
	}
	defer stop()
	if err := reference.From(r.secrets, r.parents, namedSecrets); err != nil {
		return err
	}
	if _, err := r.parents.Handle(control.Enqueue[*corev1.ConfigMap](q)); err != nil {
		return err
	}
	simulation.Always(ctx, "no Secret is taken for missing that exists", func(simulation.State) error { return r.checkMissed(all) })
	simulation.Always(ctx, "no Secret goes back", func(simulation.State) error { return r.checkStates() })
	simulation.Eventually(ctx, "each ConfigMap was reconciled with its Secrets", goal, r.checkDone)
	return control.Run(ctx, control.WithInformers(r.parents, r.informer), control.WithWorkers(q, 1, r.reconcile))
}

// refuseSome refuses requests of Secrets by name now and then, for a minute each.
func refuseSome(config *rest.Config, seed uint64, calm time.Time) {
	config.Wrap(func(of http.RoundTripper) http.RoundTripper {
		return transportFunc(func(request *http.Request) (*http.Response, error) {
			name, named := strings.CutPrefix(request.URL.Query().Get("fieldSelector"), "metadata.name=")
			hash := fnv.New64a()
			fmt.Fprint(hash, seed, name, time.Now().Unix()/60)
			if !named || time.Now().After(calm) || hash.Sum64()%4 > 0 {
				return of.RoundTrip(request)
			}
			if err := request.Context().Err(); err != nil {
				return nil, err
			}
			return forbidden(request, name), nil
		})
	})
}

// forbidden returns the answer to a request without the right to it.
func forbidden(request *http.Request, name string) *http.Response {
	const body = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"secrets %q is forbidden"}`
	text := fmt.Sprintf(body, name)
	return &http.Response{
		Status: "403 Forbidden", StatusCode: http.StatusForbidden, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f transportFunc) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// reconcile reads the Secrets of a ConfigMap.
func (r *referring) reconcile(ctx context.Context, key index.Key) error {
	config, exists := r.parents.Get(key)
	if !exists {
		delete(r.done, key)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, max(time.Millisecond, someTime(r.random)))
	defer cancel()
	var has []string
	for _, name := range namedSecrets(config) {
		secret, exists, err := r.get(ctx, name)
		switch {
		case err != nil:
			return err
		case exists:
			has = append(has, name.Name+"="+secret.ResourceVersion)
		default:
			has = append(has, name.Name+" is missing")
		}
	}
	r.done[key] = strings.Join(has, ", ")
	return nil
}

// get reads a Secret, and notes what is wrong with the answer.
func (r *referring) get(ctx context.Context, key index.Key) (secret *corev1.Secret, exists bool, err error) {
	if r.read != nil {
		secret, exists, err = r.read(r, key)
	} else {
		secret, exists, err = reference.Get(ctx, r.secrets, r.informer, key)
	}
	if err != nil && ctx.Err() == nil && !apierrors.IsForbidden(err) {
		r.wrong = errors.Join(r.wrong, fmt.Errorf("get %s: %w", key, err))
	}
	if err != nil || exists {
		return secret, exists, err
	}
	switch state := r.secrets.State(key); state.Phase {
	case reference.Absent:
		r.missed[key] = state.Version
	case reference.Pending, reference.Refused:
		r.wrong = errors.Join(r.wrong, fmt.Errorf("%s counts as missing, and is %s", key, state.Phase))
	}
	return secret, exists, nil
}

func (r *referring) checkMissed(all *secretLives) error {
	err := r.wrong
	for key, version := range r.missed {
		err = errors.Join(err, all.check(key, version))
	}
	clear(r.missed)
	return err
}

// checkStates compares the states of all Secrets with earlier ones.
func (r *referring) checkStates() error {
	for _, key := range allSecrets() {
		version := r.secrets.State(key).Version
		if secret, ok := r.informer.Get(key); ok {
			version = secret.ResourceVersion
		}
		if version == "" {
			continue
		}
		if before := r.at[key]; before != "" && older(version, before) {
			return fmt.Errorf("%s has gone back from version %s to %s", key, before, version)
		}
		r.at[key] = version
	}
	return nil
}

// checkDone compares the last reconciles, and the Secrets that are followed, with the server.
func (r *referring) checkDone(now simulation.State) error {
	have := map[index.Key]string{}
	for _, secret := range simulation.Objects[*corev1.Secret](now) {
		have[index.KeyOf(secret)] = secret.ResourceVersion
	}
	held := map[index.Key]bool{}
	var errs []error
	for _, config := range simulation.Objects[*corev1.ConfigMap](now) {
		var want []string
		for _, key := range namedSecrets(config) {
			held[key] = true
			if version, ok := have[key]; ok {
				want = append(want, key.Name+"="+version)
			} else {
				want = append(want, key.Name+" is missing")
			}
		}
		if is := r.done[index.KeyOf(config)]; is != strings.Join(want, ", ") {
			errs = append(errs, fmt.Errorf("%s was reconciled with %q, and the server has %q", config.Name, is, want))
		}
	}
	status := r.secrets.Status()
	if status.Held != len(held) || len(status.Pending)+len(status.Refused)+len(status.Unheld) > 0 {
		errs = append(errs, fmt.Errorf("%d Secrets are named, and the source has %+v", len(held), status))
	}
	return errors.Join(errs...)
}

// namedSecrets returns the keys of the Secrets that a ConfigMap names.
func namedSecrets(config *corev1.ConfigMap) (keys []index.Key) {
	for name := range strings.FieldsSeq(config.Data["secrets"]) {
		keys = append(keys, index.Key{Namespace: config.Namespace, Name: name})
	}
	return keys
}

// allSecrets returns the keys of all Secrets that there may be.
func allSecrets() (keys []index.Key) {
	for n := range 4 {
		keys = append(keys, index.Key{Namespace: "blue", Name: fmt.Sprint("tls-", n)})
	}
	return keys
}

// writeReferences makes ConfigMaps name other Secrets, and changes those.
func writeReferences(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
	for range 1 + random.IntN(3) {
		write := writeSecret
		if random.IntN(3) == 0 {
			write = writeConfig
		}
		if err := except(write(ctx, client, random), apierrors.IsAlreadyExists, apierrors.IsNotFound); err != nil {
			return err
		}
	}
	return nil
}

func writeConfig(ctx context.Context, client kubernetes.Interface, random *rand.Rand) (err error) {
	configs := client.CoreV1().ConfigMaps("blue")
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", random.IntN(3)), Namespace: "blue"}}
	var secrets []string
	for _, n := range random.Perm(4)[:random.IntN(4)] {
		secrets = append(secrets, fmt.Sprint("tls-", n))
	}
	config.Data = map[string]string{"secrets": strings.Join(secrets, " ")}
	switch random.IntN(5) {
	case 0:
		return configs.Delete(ctx, config.Name, metav1.DeleteOptions{})
	case 1, 2:
		_, err = configs.Create(ctx, config, metav1.CreateOptions{})
	default:
		_, err = configs.Update(ctx, config, metav1.UpdateOptions{})
	}
	return err
}

func writeSecret(ctx context.Context, client kubernetes.Interface, random *rand.Rand) (err error) {
	secrets := client.CoreV1().Secrets("blue")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("tls-", random.IntN(4)), Namespace: "blue"}}
	secret.Data = map[string][]byte{"key": fmt.Append(nil, random.IntN(100))}
	switch random.IntN(3) {
	case 0:
		return secrets.Delete(ctx, secret.Name, metav1.DeleteOptions{})
	case 1:
		_, err = secrets.Create(ctx, secret, metav1.CreateOptions{})
	default:
		_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
	}
	return err
}

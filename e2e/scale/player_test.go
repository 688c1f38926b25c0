package main

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/e2e/target"
	"github.com/kubetyped/informer/e2e/workload"
)

// conversation is with a player in this process.
type conversation struct {
	requests *json.Encoder
	answers  *json.Decoder
	input    io.Closer
	output   io.Closer
	played   chan error
}

func converse(side string) *conversation {
	in, input := io.Pipe()
	output, out := io.Pipe()
	c := &conversation{
		requests: json.NewEncoder(input), answers: json.NewDecoder(output),
		input: input, output: output, played: make(chan error, 1),
	}
	go func() { c.played <- play(side, in, out) }()
	return c
}

func (c *conversation) ask(t *testing.T, r request) answer {
	t.Helper()
	var a answer
	require.NoError(t, c.requests.Encode(r))
	require.NoError(t, c.answers.Decode(&a))
	return a
}

// end ends the conversation, and returns what play does.
func (c *conversation) end(t *testing.T) error {
	t.Helper()
	require.NoError(t, errors.Join(c.input.Close(), c.output.Close()))
	return <-c.played
}

// TestBothSidesDoTheSame measures both sides while the same changes are made,
// also such as the program itself does not make.
func TestBothSidesDoTheSame(t *testing.T) {
	defer goleak.VerifyNone(t)
	server, err := target.Open(t.Context())
	require.NoError(t, err)
	defer func() { assert.NoError(t, server.Close()) }()
	s, err := fill(t.Context(), plan{pods: 50, others: 7, namespaces: 3, nodes: 5, workers: 4, events: 90}, server, t.Output())
	require.NoError(t, err)
	// Not ours, so not to be counted.
	stranger := workload.Objects{Namespaces: s.objects.Namespaces, Nodes: 5}.Pod(1000)
	_, err = s.client.CoreV1().Pods(stranger.Namespace).Create(t.Context(), stranger, metav1.CreateOptions{})
	require.NoError(t, err)

	conversations := map[string]*conversation{}
	for side := range sides {
		c := converse(side)
		conversations[side] = c
		a := c.ask(t, request{Do: requestSync, Kubeconfig: s.kubeconfig, Selector: runLabel + "=" + s.objects.Labels[runLabel]})
		require.Empty(t, a.Err)
		assert.Equal(t, map[string]int{pods: 50, configMaps: 7, secrets: 7, services: 7, endpointSlices: 7}, a.Synced.Objects, side)
		assert.Positive(t, a.Synced.Took)
		assert.Positive(t, a.Synced.CPU)
		assert.Greater(t, a.Synced.Peak, a.Synced.Heap)
		require.Empty(t, c.ask(t, request{Do: requestFollow}).Err)
	}
	pod := s.objects.Pod(50)
	_, err = s.client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	version, err := s.update(t.Context())
	require.NoError(t, err)
	for side, c := range conversations {
		a := c.ask(t, request{Do: requestUntil, Version: version})
		require.Empty(t, a.Err)
		assert.Equal(t, 90, a.Events.Updates, side)
		assert.Equal(t, 1, a.Events.Others, side)
		assert.Positive(t, a.Events.Took)
		assert.Positive(t, a.Events.CPU)
		assert.NoError(t, c.end(t))
	}
}

func TestUpdatesGoOnWhereTheyWere(t *testing.T) {
	server, err := target.Open(t.Context())
	require.NoError(t, err)
	defer func() { assert.NoError(t, server.Close()) }()
	client := kubernetes.NewForConfigOrDie(server.Config())
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	s := &scene{
		plan: plan{pods: 4, events: 6}, client: client, out: t.Output(), crew: workload.Crew{Workers: 1, Out: t.Output()},
		objects: workload.Objects{Namespaces: []string{namespace}, Nodes: 1},
	}
	require.NoError(t, s.objects.CreatePods(t.Context(), s.crew, s.pods, client.CoreV1().Pods))
	first, err := s.update(t.Context())
	require.NoError(t, err)
	last, err := s.update(t.Context())
	require.NoError(t, err)
	changes, err := client.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: first, TimeoutSeconds: new(int64(30))})
	require.NoError(t, err)
	defer changes.Stop()
	var changed watch.Event
	for range s.events {
		changed = <-changes.ResultChan()
		require.Equal(t, watch.Modified, changed.Type, "each update is a change")
	}
	assert.Equal(t, last, changed.Object.(*corev1.Pod).ResourceVersion)
	list, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var ready []bool // of the Pods by number; twelve updates are three of each
	for i := range s.pods {
		for _, pod := range list.Items {
			if pod.Name == s.objects.Pod(i).Name {
				ready = append(ready, pod.Status.ContainerStatuses[len(pod.Status.ContainerStatuses)-1].Ready)
			}
		}
	}
	assert.Equal(t, []bool{false, false, false, false}, ready, "version 4 of each")
	assert.Equal(t, last, newest(list.Items))
}

// newest returns the largest version of Pods.
func newest(list []corev1.Pod) string {
	largest := 0
	for _, pod := range list {
		if n, err := strconv.Atoi(pod.ResourceVersion); err == nil {
			largest = max(largest, n)
		}
	}
	return strconv.Itoa(largest)
}

func TestPlayerAnswersWithItsError(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, r := range map[string]request{
		"order":      {Do: requestFollow},
		"kubeconfig": {Do: requestSync, Kubeconfig: []byte("no kubeconfig")},
		"profile":    {Do: requestSync, Profiles: "/no/such/folder"},
	} {
		c := converse(sideTyped)
		assert.NotEmpty(t, c.ask(t, r).Err, name)
		assert.Error(t, c.end(t), name)
	}
}

func TestPlayerEndsWithItsInput(t *testing.T) {
	defer goleak.VerifyNone(t)
	for side := range sides {
		c := converse(side)
		require.NoError(t, c.requests.Encode(request{Do: requestSync, Kubeconfig: unreachable}))
		assert.NoError(t, c.end(t), side)
	}
}

// unreachable is a kubeconfig of a server that is not there.
var unreachable = []byte(`{"clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}], "users": [{"name": "u"}],
	"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "current-context": "c"}`)

func TestPlayerRefusesUnreadableRecordings(t *testing.T) {
	in, input := io.Pipe()
	played := make(chan error, 1)
	go func() { played <- play(sideTyped, in, io.Discard) }()
	_, err := io.WriteString(input, "no request\n")
	require.NoError(t, err)
	var syntax *json.SyntaxError
	assert.True(t, errors.As(<-played, &syntax))
}

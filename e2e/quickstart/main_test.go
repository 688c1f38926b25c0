package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// childVariable makes the test binary play the command: its value says which.
const childVariable = "QUICKSTART_TEST_CHILD"

func TestMain(m *testing.M) {
	var err error
	switch child := os.Getenv(childVariable); child {
	case "":
		os.Exit(m.Run())
	case "watch":
		err = watchPods(context.Background())
	case "wait":
		waitForInterrupt()
	default:
		err = fmt.Errorf("unknown child %q", child)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// watchPods prints how many Pods there are, and waits until it has seen one
// change, one go and one come.
func watchPods(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	pods := client.CoreV1().Pods(metav1.NamespaceAll)
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	fmt.Println("found", len(list.Items))
	watcher, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	missing := sets.New(watch.Added, watch.Modified, watch.Deleted)
	for event := range watcher.ResultChan() {
		if missing.Delete(event.Type); len(missing) == 0 {
			return nil
		}
	}
	return errors.New("the watch ended early")
}

func waitForInterrupt() {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	fmt.Println("waiting")
	<-interrupted
	fmt.Println("interrupted")
}

func TestCommandSeesPodsAndTheirChanges(t *testing.T) {
	t.Setenv(childVariable, "watch")
	var out strings.Builder

	err := run(t.Context(), []string{"-pods=40", "-churn=100", "--", os.Args[0]}, &out)

	require.NoError(t, err, out.String())
	assert.Contains(t, out.String(), "created 40 of 40 Pods")
	// One may be on its way back.
	assert.Regexp(t, "found (39|40)\n", out.String())
}

func TestRunFailsWithItsCommand(t *testing.T) {
	t.Setenv(childVariable, "no such child")
	var out strings.Builder

	err := run(t.Context(), []string{"-pods=1", "--", os.Args[0]}, &out)

	assert.ErrorContains(t, err, "exit status 1")
}

func TestRunRefusesWrongNumbers(t *testing.T) {
	for _, arg := range []string{"-pods=0", "-namespaces=0", "-nodes=0", "-workers=0", "-churn=0"} {
		err := run(t.Context(), []string{arg}, t.Output())
		assert.ErrorContains(t, err, "must be positive", arg)
	}
}

func TestCommandIsInterruptedWithItsContext(t *testing.T) {
	t.Setenv(childVariable, "wait")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &cancelOn{text: "waiting", cancel: cancel}

	err := command{args: []string{os.Args[0]}, out: out}.run(ctx)

	assert.ErrorIs(t, err, context.Canceled)
	assert.Contains(t, out.String(), "interrupted", "killed instead")
}

// cancelOn keeps what is written to it, and cancels when it contains a text.
type cancelOn struct {
	strings.Builder
	text   string
	cancel func()
}

func (c *cancelOn) Write(p []byte) (int, error) {
	n, err := c.Builder.Write(p)
	if strings.Contains(c.String(), c.text) {
		c.cancel()
	}
	return n, err
}

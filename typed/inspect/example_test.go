package inspect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/source"
)

func Example() {
	pods := typed.NewInformer(forbidden{}, typed.WithName("pods"))

	// This is all that a program needs: a page at /debug/informers/.
	inspector, err := inspect.New(inspect.WithInformers(pods))
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/debug/informers/", inspector)

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	defer func() { cancel(); <-done }()
	soon, end := context.WithTimeout(ctx, 200*time.Millisecond)
	defer end()
	_ = pods.WaitForSync(soon) // says it as well, but to whom?

	// Read the page as JSON.
	server := httptest.NewServer(http.DefaultServeMux)
	defer server.Close()
	answer, err := http.Get(server.URL + "/debug/informers/?format=json")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var report snapshot.Report
	if err := json.NewDecoder(answer.Body).Decode(&report); err != nil {
		log.Fatal(err)
	}
	for _, problem := range report.Problems {
		fmt.Printf("%s: %s: %s\n", problem.Severity, problem.Name, problem.Text)
	}
	// Output:
	// error: pods: not synced, so nothing can be read: the API server denies it the right to list or watch
}

// forbidden is a source of an API server that denies all rights.
type forbidden struct{}

func (forbidden) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	sink.Report(apierrors.NewForbidden(corev1.Resource("pods"), "", fmt.Errorf("no such right")))
	<-ctx.Done()
	return nil
}

//go:build !race

// Command controlplane runs one half of a Kubernetes control plane: etcd, or the kube-apiserver.
// It is the server side of package cluster, which starts it; there is no need to start it by
// hand.
//
//	controlplane etcd --dir DIR --client-socket FILE --peer-socket FILE
//	controlplane apiserver [flags of kube-apiserver]
//
// Each runs until SIGTERM, which ends them in good order, or until standard
// input ends, which means that the process that started them is gone: then
// etcd removes its folder, and the API server exits at once. An interrupt from
// the keyboard reaches every process of the terminal; it is left to the parent,
// which stops the two in order.
//
// The race detector is left out on purpose: with it, `go test -race ./...`
// would compile all of Kubernetes a second time, to test nothing of ours.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want a first argument: etcd or apiserver")
	}
	signal.Ignore(os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	gone := parentGone(os.Stdin)

	switch args[0] {
	case "etcd":
		return runEtcd(ctx, gone, args[1:])
	case "apiserver":
		exitWhen(gone)
		return runAPIServer(ctx, args[1:])
	default:
		return fmt.Errorf("unknown first argument %q, want etcd or apiserver", args[0])
	}
}

// parentGone returns what is closed when lifeline ends, as a pipe does when the
// process at its other end goes away, however it goes. Its goroutine lives as
// long as this process.
func parentGone(lifeline io.Reader) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		// A lifeline that fails is as good as one that ended.
		_, _ = io.Copy(io.Discard, lifeline)
	}()
	return gone
}

// exitWhen makes the process exit without grace when the parent is gone, also in
// the middle of a stop in good order. It is for an API server: etcd goes at the
// same moment, and a shutdown would wait for it in vain.
func exitWhen(gone <-chan struct{}) {
	go func() {
		<-gone
		fmt.Fprintln(os.Stderr, "controlplane: parent process is gone")
		os.Exit(1)
	}()
}

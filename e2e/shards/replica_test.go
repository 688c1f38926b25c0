package shards

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/shard"
	"github.com/kubetyped/informer/typed/source"
)

// The environment of a process sets these.
const (
	identityVariable   = "E2E_SHARD_IDENTITY"
	kubeconfigVariable = "E2E_SHARD_KUBECONFIG"
	journalVariable    = "E2E_SHARD_JOURNAL"
)

const (
	leaseDuration = 6 * time.Second
	workers       = 4
	work          = 2 * time.Millisecond // that a Pod takes
)

// state is what a process prints of itself, several times a second.
type state struct {
	Objects, Ranges int
	Heap            uint64
	CPU             time.Duration
	Server          bool // it filters

	Decoding  time.Duration // of the received events
	Received  uint64        // bytes
	Frames    uint64
	Live      uint64 // heap after the last collection that was asked for
	Collected int    // how often it was asked for
}

// replicate runs a process of the group, until SIGTERM.
func replicate() (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv(kubeconfigVariable))
	if err != nil {
		return err
	}
	config.QPS = -1
	journal, err := openJournal(os.Getenv(journalVariable), os.Getenv(identityVariable))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	group, err := shard.New(config, "default", "e2e", shard.WithIdentity(os.Getenv(identityVariable)), shard.WithLeaseDuration(leaseDuration))
	if err != nil {
		return err
	}
	src := shard.NewSource(group, func() source.Source[*corev1.Pod] { return kube.FromREST[*corev1.Pod](config) })
	pods := typed.NewInformer(src)
	q, err := queue.NewWorkQueue[index.Key]()
	if err != nil {
		return err
	}
	if _, err := pods.Handle(control.Enqueue[*corev1.Pod](q)); err != nil {
		return err
	}
	reconcile := func(ctx context.Context, key index.Key) error {
		pod, ok := pods.Get(key)
		if !ok {
			return nil
		}
		if err := journal.note("begin", key.String(), "-", "-"); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(work):
		}
		if generation := src.Generation(key); generation != "" && ctx.Err() == nil {
			if err := journal.note("write", key.String(), pod.ResourceVersion, generation); err != nil {
				return err
			}
		}
		return errors.Join(journal.note("end", key.String(), "-", "-"), context.Cause(ctx))
	}
	go printStates(ctx, func() state { return stateOf(group, pods.Status(), src.Status()) })
	return control.Run(ctx, control.WithInformers(group, pods), control.WithWorkers(q, workers, src.Reconcile(reconcile)))
}

// printStates prints a state several times a second. At each SIGUSR1 it collects garbage first.
func printStates(ctx context.Context, now func() state) {
	collect := make(chan os.Signal, 1)
	signal.Notify(collect, syscall.SIGUSR1)
	defer signal.Stop(collect)
	out := json.NewEncoder(os.Stdout)
	live, collected := uint64(0), 0
	for ctx.Err() == nil {
		s := now()
		s.Live, s.Collected = live, collected
		if out.Encode(s) != nil {
			return
		}
		select {
		case <-collect:
			runtime.GC()
			runtime.GC() // frees the objects of finalizers and pools
			live, collected = now().Heap, collected+1
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func stateOf(group *shard.Group, pods report.Status, src shard.SourceStatus) state {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return state{
		Objects: pods.Objects, Ranges: group.Status().Ranges, Server: src.Server, Heap: mem.HeapAlloc,
		CPU:      time.Duration(usage.Utime.Nano() + usage.Stime.Nano()),
		Decoding: pods.Traffic.Decoding, Received: pods.Traffic.Bytes, Frames: pods.Traffic.Frames,
	}
}

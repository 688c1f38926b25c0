package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// serveFleetTask runs players, a cluster each, with Pods that differ from those of the others in
// all that is random. Its arguments are how many there are, and how many Pods each has. It
// reports their addresses.
func serveFleetTask(arguments []string, ready func(string)) error {
	clusters, err := strconv.Atoi(arguments[0])
	if err != nil {
		return err
	}
	pods, err := strconv.Atoi(arguments[1])
	if err != nil {
		return err
	}
	var urls []string
	var servers []*http.Server
	var served sync.WaitGroup
	for i := range clusters {
		r, err := recordCluster(cluster.NewSeeded(pods, 50, uint64(i+1)))
		if err != nil {
			return err
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		server := &http.Server{Handler: &player{recordings: map[string]*recording{r.mediaType: r}}}
		served.Go(func() { _ = server.Serve(listener) }) // it ends with Close
		servers = append(servers, server)
		urls = append(urls, "http://"+listener.Addr().String())
	}
	ready(strings.Join(urls, " "))
	err = untilTold()
	for _, server := range servers {
		err = errors.Join(err, server.Close())
	}
	served.Wait()
	return err
}

func recordCluster(of *cluster.Cluster) (*recording, error) {
	return recordPods(runtime.ContentTypeProtobuf, of, of.Size)
}

// fleetSides sync informers with the Pods of several clusters, and return how many those
// hold, and what ends them.
var fleetSides = map[string]func(configs []*rest.Config) (synced, error){
	"client-go": syncFactories,
	"typed":     syncFleet,
}

// syncFactories starts a factory of client-go for each cluster.
func syncFactories(configs []*rest.Config) (synced, error) {
	var all synced
	ctx, cancel := context.WithCancel(context.Background())
	var factories []informers.SharedInformerFactory
	for _, config := range configs {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			cancel()
			return all, err
		}
		factory := informers.NewSharedInformerFactory(client, 0)
		factory.Core().V1().Pods().Informer()
		factory.Start(ctx.Done())
		factories = append(factories, factory)
	}
	for _, factory := range factories {
		factory.WaitForCacheSync(ctx.Done())
		all.objects += len(factory.Core().V1().Pods().Informer().GetStore().ListKeys())
	}
	all.stop = func() {
		cancel()
		for _, factory := range factories {
			factory.Shutdown()
		}
		goruntime.KeepAlive(factories)
	}
	return all, nil
}

// syncFleet has one informer for all.
func syncFleet(configs []*rest.Config) (synced, error) {
	clusters := &fleet.Clusters{}
	for i, config := range configs {
		if err := clusters.Add(fleet.Cluster{Name: fmt.Sprintf("cluster-%02d", i), Config: config}); err != nil {
			return synced{}, err
		}
	}
	src := fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] { return kube.FromREST[*corev1.Pod](c.Config) })
	informer := typed.NewInformer(src)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx) }()
	if err := informer.WaitForSync(ctx); err != nil {
		cancel()
		return synced{}, errors.Join(err, <-ended)
	}
	return synced{informer.Len(), func() {
		cancel()
		if err := <-ended; err != nil {
			panic(err)
		}
	}}, nil
}

// syncFleetTask syncs one side, and reports, in this order: objects, goroutines, bytes and
// objects of the heap, bytes of stacks, seconds of processor time, the most memory of the
// process in KiB, and how many seconds it took. Its arguments are the side and the servers.
func syncFleetTask(arguments []string, ready func(string)) error {
	var configs []*rest.Config
	for _, host := range arguments[1:] {
		configs = append(configs, &rest.Config{Host: host, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}})
	}
	begun := time.Now()
	one, err := fleetSides[arguments[0]](configs)
	if err != nil {
		return err
	}
	took := time.Since(begun)
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	goruntime.GC()
	goruntime.GC()
	goroutines := settled(0)
	var stats goruntime.MemStats
	goruntime.ReadMemStats(&stats)
	ready(fmt.Sprintf("%d %d %d %d %d %f %d %f", one.objects, goroutines, stats.HeapAlloc, stats.HeapObjects, stats.StackInuse, cpu.Seconds(), usage.Maxrss, took.Seconds()))
	if err := untilTold(); err != nil {
		return err
	}
	one.stop()
	return nil
}

// BenchmarkFleet measures processes that hold the Pods of 50 clusters, 2,000 in each: 50
// factories of client-go, or one informer of a fleet. The Pods come in protobuf, in
// streamed lists, from another process. With silent=1, one more cluster takes connections
// and does not answer: client-go's factories are waited for one after the other, and for
// that one for ever, so only the fleet is measured.
//
// heap-MB and heap-objects are what is live when all has synced, stack-MB what goroutines
// have; rss-MB is the most that the process had, cpu-sec all that it has used until then,
// and sync-sec how long that took.
func BenchmarkFleet(b *testing.B) {
	const clusters, pods = 50, 2_000
	urls, _ := startTask(b, fmt.Sprint("servefleet ", clusters, " ", pods))
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer silent.Close()
	for _, side := range []string{"client-go", "typed", "typed-silent"} {
		name, task := side, urls
		if side == "typed-silent" {
			name, task = "typed", urls+" http://"+silent.Addr().String()
		}
		b.Run(fmt.Sprintf("silent=%d/impl=%s", strings.Count(side, "silent"), name), func(b *testing.B) {
			var sums [8]float64
			for b.Loop() {
				line, end := startTask(b, strings.Join([]string{"syncfleet", name, task}, " "))
				words := strings.Fields(line)
				require.Len(b, words, len(sums))
				require.Equal(b, strconv.Itoa(clusters*pods), words[0])
				for i, word := range words {
					value, err := strconv.ParseFloat(word, 64)
					require.NoError(b, err)
					sums[i] += value / 1e6
				}
				end()
			}
			n := float64(b.N)
			b.ReportMetric(0, "ns/op") // of a process
			b.ReportMetric(sums[1]*1e6/n, "goroutines")
			b.ReportMetric(sums[2]/n, "heap-MB")
			b.ReportMetric(sums[3]*1e6/n, "heap-objects")
			b.ReportMetric(sums[4]/n, "stack-MB")
			b.ReportMetric(sums[5]*1e6/n, "cpu-sec")
			b.ReportMetric(sums[6]*1024/n, "rss-MB")
			b.ReportMetric(sums[7]*1e6/n, "sync-sec")
		})
	}
}

// TestFleetSidesHoldTheSame: both sides have all Pods of all clusters.
func TestFleetSidesHoldTheSame(t *testing.T) {
	urls, _ := startTask(t, "servefleet 3 100")
	for side := range fleetSides {
		line, end := startTask(t, strings.Join([]string{"syncfleet", side, urls}, " "))
		require.Equal(t, "300", strings.Fields(line)[0], side)
		end()
	}
}

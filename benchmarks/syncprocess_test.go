package benchmarks

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

var syncers = map[string]syncer{
	"client-go":            syncClientGo(nil),
	"client-go-projection": syncClientGo(strip),
	"typed":                syncTyped[*corev1.Pod],
	"typed-projection":     syncTyped[*sixFields],
}

// syncTask syncs an informer, and reports the resources that the process has used: seconds of
// processor time and the most memory that it had at a time, in KiB. Its arguments are a key of
// syncers, the server and the media type.
func syncTask(arguments []string, ready func(string)) error {
	config := &rest.Config{Host: arguments[1], QPS: -1, ContentConfig: rest.ContentConfig{ContentType: arguments[2]}}
	one, err := syncers[arguments[0]](config)
	if err != nil {
		return err
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	ready(fmt.Sprintf("%d %f %d", one.objects, cpu.Seconds(), usage.Maxrss))
	if err := untilTold(); err != nil {
		return err
	}
	one.stop()
	return nil
}

// BenchmarkSyncProcess measures processes that do nothing but sync an informer
// with 50,000 Pods, a list that is streamed. An operation is one such process:
// cpu-sec is all that it has used, with its start, rss-MB the most memory that it
// had. The sides with -projection keep six fields, see BenchmarkProjection.
//
// It needs about 2 GB. -benchtime 3x bounds it.
func BenchmarkSyncProcess(b *testing.B) {
	const pods = 50_000
	for _, encoding := range encodings {
		b.Run("encoding="+encoding.name, func(b *testing.B) {
			url, _ := startTask(b, fmt.Sprintf("serve %d 0 %s", pods, encoding.mediaType))
			for _, side := range []string{"client-go", "typed", "client-go-projection", "typed-projection"} {
				b.Run("impl="+side, func(b *testing.B) {
					cpu, rss := 0.0, 0.0
					for b.Loop() {
						line, end := startTask(b, strings.Join([]string{"sync", side, url, encoding.mediaType}, " "))
						words := strings.Fields(line)
						require.Len(b, words, 3)
						require.Equal(b, strconv.Itoa(pods), words[0])
						seconds, err := strconv.ParseFloat(words[1], 64)
						require.NoError(b, err)
						kib, err := strconv.ParseFloat(words[2], 64)
						require.NoError(b, err)
						cpu, rss = cpu+seconds, max(rss, kib)
						end()
					}
					b.ReportMetric(cpu/float64(b.N), "cpu-sec")
					b.ReportMetric(rss*1024/1e6, "rss-MB")
				})
			}
		})
	}
}

// TestSyncersKeepTheSame: every side gets all Pods, and those with a projection
// keep the same fields.
func TestSyncersKeepTheSame(t *testing.T) {
	const pods = 300
	url, _ := startTask(t, fmt.Sprintf("serve %d 0 %s %s", pods, runtime.ContentTypeJSON, runtime.ContentTypeProtobuf))
	for _, encoding := range encodings {
		for side := range syncers {
			line, _ := startTask(t, strings.Join([]string{"sync", side, url, encoding.mediaType}, " "))
			require.Equal(t, strconv.Itoa(pods), strings.Fields(line)[0], "%s in %s", side, encoding.name)
		}
	}
	pod := cluster.New(1, 1).Pod(0, 1)
	stripped, err := strip(pod)
	require.NoError(t, err)
	var projected sixFields
	for _, from := range []any{pod, stripped} {
		data, err := json.Marshal(from)
		require.NoError(t, err)
		var own sixFields
		require.NoError(t, json.Unmarshal(data, &own))
		if from == any(pod) {
			projected = own
		}
		require.Equal(t, projected, own)
		require.NotContains(t, fmt.Sprint(own), "{ ", "all of them are set")
	}
}

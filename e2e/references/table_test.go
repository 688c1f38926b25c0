package references

import (
	"fmt"
	"strings"
	"time"
)

// tableOf returns the results as a table.
func tableOf(results map[string]measured) string {
	first := results["client-go"]
	table := fmt.Sprintf("%d Ingresses name %d of %d Secrets of %d kB, on kube-apiserver and etcd, at client-go's default limit of 5 requests a second, %s. Each controller runs in its own process, one after the other.\n\n",
		ingresses, named, *secrets, *secretBytes/1000, time.Now().Format(time.DateOnly))
	table += "| |"
	for _, way := range ways {
		title := map[string]string{"client-go": "client-go's informer", "controller-runtime": "controller-runtime's cache", "uncached": "no cache", "WithReferences": "`WithReferences`", "typed": "`typed/reference`"}[way.name]
		table += " " + title + " |"
	}
	table += "\n|---|" + strings.Repeat("--:|", len(ways)) + "\n"
	row := func(name string, of func(way string, m measured) string) {
		table += "| " + name + " |"
		for _, way := range ways {
			table += " " + of(way.name, results[way.name]) + " |"
		}
		table += "\n"
	}
	row("heap", func(_ string, m measured) string {
		return fmt.Sprintf("%.1f MB (%.1f %%)", float64(m.end.Heap)/1e6, 100*float64(m.end.Heap)/float64(first.end.Heap))
	})
	row("received", func(_ string, m measured) string {
		return fmt.Sprintf("%.1f MB (%.1f %%)", float64(m.synced.Bytes)/1e6, 100*float64(m.synced.Bytes)/float64(first.synced.Bytes))
	})
	row("time to sync", func(_ string, m measured) string { return rounded(m.synced.Took) })
	row("requests to sync", func(_ string, m measured) string { return fmt.Sprint(m.synced.Requests) })
	row("requests a minute, then", func(_ string, m measured) string { return fmt.Sprintf("%.0f", m.perMinute) })
	row("from a Secret's change to its reconcile, median", func(_ string, m measured) string { return rounded(m.latency) })
	row("at most", func(_ string, m measured) string { return rounded(m.worst) })
	row("connections", func(_ string, m measured) string { return fmt.Sprint(m.end.Connections) })
	row("watches", func(_ string, m measured) string { return fmt.Sprint(m.end.Watches) })
	row("goroutines", func(_ string, m measured) string { return fmt.Sprint(m.end.Goroutines) })
	row("lists and watches of all Secrets", func(_ string, m measured) string { return fmt.Sprint(m.end.Wide) })
	row("rights", func(way string, _ measured) string {
		for _, w := range ways {
			if w.name == way && w.byName {
				return fmt.Sprintf("%s %d", strings.Join(w.verbs, ", "), named)
			}
		}
		return "list, watch all"
	})
	return table
}

// rounded writes a duration with about three digits.
func rounded(d time.Duration) string {
	switch {
	case d > 10*time.Second:
		return d.Round(time.Second).String()
	case d > 100*time.Millisecond:
		return d.Round(10 * time.Millisecond).String()
	default:
		return d.Round(100 * time.Microsecond).String()
	}
}

package metrics_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// known has, for each name of a series, its labels, those of a scrape included.
func known(t *testing.T) map[string][]string {
	names := map[string][]string{}
	for _, f := range everything(t) {
		labels := []string{"job", "instance"}
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		if f.GetType() != dto.MetricType_HISTOGRAM {
			names[f.GetName()] = labels
			continue
		}
		names[f.GetName()+"_sum"], names[f.GetName()+"_count"] = labels, labels
		names[f.GetName()+"_bucket"] = append(slices.Clip(labels), "le")
	}
	return names
}

// TestAlerts reads docs/operating/alerts.yaml, and looks for all metrics and labels in it.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(docs, "operating", "alerts.yaml"))
	require.NoError(t, err)
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	require.NoError(t, yaml.UnmarshalStrict(text, &file))
	names := known(t)
	var alerts []string
	for _, g := range file.Groups {
		require.NotEmpty(t, g.Name)
		for _, r := range g.Rules {
			alerts = append(alerts, r.Alert)
			used, err := readPromQL(r.Expr, names)
			assert.NoError(t, err, r.Alert)
			assert.NotEmpty(t, used, r.Alert)
			assert.Contains(t, []string{"warning", "critical"}, r.Labels["severity"], r.Alert)
			assert.NotEmpty(t, r.Annotations["summary"], r.Alert)
			for _, l := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(r.Annotations["summary"]+r.Annotations["description"], -1) {
				for _, name := range used {
					assert.Contains(t, names[name], l[1], "the text of %s", r.Alert)
				}
			}
		}
	}
	slices.Sort(alerts)
	assert.Equal(t, slices.Compact(slices.Clone(alerts)), alerts, "each has a name of its own")
	assert.Subset(t, alerts, []string{"InformerNotSynced", "HandlerBacklogGrows", "HandlerStuck", "WorkerStuck", "InformerNearBudget", "KeyFailing", "InformerWithoutContact", "ShardRangesWithoutMember", "ClusterFails"})
}

// dashboard is a part of what Grafana reads.
type dashboard struct {
	Templating struct {
		List []struct {
			Name  string
			Type  string
			Query json.RawMessage
		}
	}
	Panels []struct {
		ID          int
		Type, Title string
		Description string
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct{ Expr, LegendFormat string }
	}
}

// TestDashboard reads docs/operating/dashboard.json, and looks for all metrics and labels in
// it. Each metric is shown somewhere.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(docs, "operating", "dashboard.json"))
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(text, &d))
	names, shown, ids, rows := known(t), map[string]bool{}, map[int]bool{}, []string{}
	for i, p := range d.Panels {
		require.False(t, ids[p.ID], "two panels have the number %d", p.ID)
		ids[p.ID] = true
		for _, other := range d.Panels[:i] {
			a, b := p.GridPos, other.GridPos
			assert.False(t, a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H, "%s lies over %s", p.Title, other.Title)
		}
		assert.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		if p.Type == "row" {
			rows = append(rows, p.Title)
			continue
		}
		assert.NotEmpty(t, p.Description, p.Title)
		assert.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			used, err := readPromQL(target.Expr, names)
			assert.NoError(t, err, p.Title)
			assert.NotEmpty(t, target.LegendFormat, p.Title)
			for _, name := range used {
				shown[strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")] = true
			}
		}
	}
	assert.Equal(t, []string{"What is wrong now", "Informers", "Handlers", "Queues", "Expectations", "Groups", "Fleets", "Own writes", "References"}, rows)
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			var q struct{ Query string }
			require.NoError(t, json.Unmarshal(v.Query, &q))
			inner := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(q.Query)
			require.Len(t, inner, 3, q.Query)
			_, err := readPromQL(inner[1], names)
			assert.NoError(t, err)
		}
	}
	elsewhere := []string{ // for a look at one program; the rest is on the dashboard
		"kubetyped_informer_handlers", "kubetyped_informer_heap_bytes", "kubetyped_informer_last_event_timestamp_seconds", "kubetyped_informer_first_failure_timestamp_seconds",
		"kubetyped_informer_received_frames_total", "kubetyped_informer_rejected_total", "kubetyped_informer_index_keys", "kubetyped_informer_index_largest_key_objects",
		"kubetyped_deduplicated_parts", "kubetyped_deduplication_table_bytes",
		"kubetyped_informer_packed_bases", "kubetyped_informer_packed_bytes", "kubetyped_informer_packed_raw_bytes",
		"kubetyped_informer_packed_decodes_total", "kubetyped_informer_packed_decode_seconds_total",
	}
	for _, f := range everything(t) {
		assert.NotEqual(t, slices.Contains(elsewhere, f.GetName()), shown[f.GetName()], "%s", f.GetName())
	}
}

// TestReadPromQL: readPromQL rejects wrong expressions.
func TestReadPromQL(t *testing.T) {
	names := map[string][]string{"a_total": {"job"}, "b": {"kind"}}
	used, err := readPromQL(`sum by (kind) (rate(a_total{job=~"x{"}[5m])) / 2e3 and on (kind) b > 0`, names)
	assert.NoError(t, err)
	assert.Equal(t, []string{"a_total", "b"}, used)
	for _, wrong := range []string{`c`, `sum(b`, `b)`, `b{job="x"}`, `sum by (job) (b)`, `rat(b[5m])`, `b{kind="x}`, `b[5m`, ``} {
		_, err := readPromQL(wrong, names)
		assert.Error(t, err, wrong)
	}
}

var (
	promToken    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[A-Za-z_:][\w:]*|\d[\w.]*|[-+*/%^(){}\[\],]|[<>=!~]+|\s+`)
	promFunction = []string{"sum", "min", "max", "rate", "increase", "deriv", "histogram_quantile", "time", "vector"}
	promKeyword  = []string{"and", "or", "unless", "by", "on", "without", "ignoring", "bool"}
)

// readPromQL returns the metrics in an expression. It is no parser of PromQL, which comes
// with all of Prometheus: it knows words, strings and brackets, and returns an error for
// words that are no metric, function or keyword, and for labels that no metric in the
// expression has.
func readPromQL(expr string, names map[string][]string) (used []string, err error) {
	expr = strings.ReplaceAll(expr, "$__rate_interval", "5m")
	var open []string // brackets: "{", "[", "(", or "by(" if labels are within
	var labels []string
	last := ""
	for expr != "" {
		at := promToken.FindStringIndex(expr)
		if at == nil || at[0] != 0 {
			return nil, fmt.Errorf("%q is nothing", expr)
		}
		token := expr[:at[1]]
		expr = expr[at[1]:]
		within := ""
		if len(open) > 0 {
			within = open[len(open)-1]
		}
		switch {
		case strings.TrimSpace(token) == "":
			continue
		case token == "(" && slices.Contains([]string{"by", "on", "without", "ignoring"}, last):
			open = append(open, "by(")
		case strings.Contains("({[", token):
			open = append(open, token)
		case strings.Contains(")}]", token):
			if within == "" || map[string]string{")": "(", "}": "{", "]": "["}[token] != within[len(within)-1:] {
				return nil, fmt.Errorf("%s closes nothing", token)
			}
			open = open[:len(open)-1]
		case !regexp.MustCompile(`^[A-Za-z_]`).MatchString(token):
		case within == "{" || within == "by(":
			labels = append(labels, token)
		case names[token] != nil:
			used = append(used, token)
		case !slices.Contains(promFunction, token) && !slices.Contains(promKeyword, token):
			return nil, fmt.Errorf("there is no %s", token)
		}
		last = token
	}
	if len(open) > 0 || len(used) == 0 {
		return nil, fmt.Errorf("it has %d open brackets and %d metrics", len(open), len(used))
	}
	for _, label := range labels {
		if !slices.ContainsFunc(used, func(name string) bool { return slices.Contains(names[name], label) }) {
			return nil, fmt.Errorf("none of %v has the label %s", used, label)
		}
	}
	return used, nil
}

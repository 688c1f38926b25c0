package walls_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const module = "github.com/kubetyped/informer/"

// ofQueue are the rooms that the work queue is built on. A package that links the queue links
// them.
var ofQueue = []string{
	"internal/argument", "internal/container", "internal/goroutine", "internal/loglimit", "internal/monitor", "internal/timing",
}

// ofTyped are the rooms that the informer is built on, as ofQueue are those of the queue.
var ofTyped = []string{
	"index", "queue", "typed/source", "typed/report", "internal/eventlog", "internal/heapsize", "internal/observer",
}

// TestRooms looks at all packages that each of the core packages links.
func TestRooms(t *testing.T) {
	const (
		api    = "k8s.io/api"
		client = "k8s.io/client-go"
		queues = "k8s.io/client-go/util/workqueue" // the interfaces of work queues
		web    = "net/http"                        // which apimachinery's errors and crash handlers link
	)
	for name, room := range map[string]struct {
		ours      []string // the packages of this module that it may link
		allowed   []string // exceptions from forbidden
		forbidden []string
	}{
		"internal/mutation": {forbidden: []string{api, client}},
		"internal/eventlog": {ours: []string{"index", "internal/container"}, forbidden: []string{api, client, web}},
		"index":             {forbidden: []string{api, client, web}},
		"queue":             {ours: append([]string{"index"}, ofQueue...), forbidden: []string{api, client}, allowed: []string{queues}},
		"lister":            {ours: []string{"index"}, forbidden: []string{api, client}},
		"typed/source":      {ours: []string{"index", "internal/monitor", "internal/container", "internal/goroutine"}, forbidden: []string{api, client}},
		"typed":             {ours: []string{"queue"}, forbidden: []string{api, client}, allowed: []string{queues}},
		"typed/observe":     {ours: []string{"typed", "internal/mutation"}, forbidden: []string{api, client}, allowed: []string{queues}},
		"typed/control":     {ours: []string{"typed"}, forbidden: []string{api, client}, allowed: []string{queues}},
		"typed/view":        {ours: []string{"internal/deepcopy", "internal/semantic", "typed"}, forbidden: []string{api, client}, allowed: []string{queues}},
		"typed/shard":       {ours: []string{"index", "queue", "typed/source", "internal/monitor", "internal/goroutine", "internal/container", "internal/loglimit"}},
		"typed/fleet":       {ours: []string{"lister", "typed"}},
		"typed/kube":        {ours: []string{"typed", "internal/answers", "internal/ownwrites", "internal/deepcopy", "internal/decode/kept", "internal/decode/packed", "internal/decode/wire", "internal/decode/plan", "internal/decode/jsontree", "internal/decode/parts"}},
		"typed/reference":   {ours: []string{"typed", "typed/control"}, forbidden: []string{api, client}, allowed: []string{queues}},

		"typed/inspect/snapshot": {forbidden: []string{api, client, web, "k8s.io"}},
		"typed/inspect":          {ours: []string{"lister", "typed", "typed/control", "typed/fleet", "typed/inspect/snapshot", "typed/shard"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "typed" || slices.Contains(room.ours, "typed") {
				room.ours = append(room.ours, ofTyped...)
			}
			if slices.Contains(room.ours, "queue") {
				room.ours = append(room.ours, ofQueue...)
			}
			for _, linked := range linkedBy(t)[name] {
				if own, ok := strings.CutPrefix(linked, module); ok {
					assert.Contains(t, append(room.ours, name), own, "it is not built on that")
				}
				for _, forbidden := range room.forbidden {
					within := linked == forbidden || strings.HasPrefix(linked, forbidden+"/")
					assert.False(t, within && !slices.Contains(room.allowed, linked), "it links %s", linked)
				}
			}
		})
	}
}

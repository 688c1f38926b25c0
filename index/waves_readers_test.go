package index_test

import (
	"iter"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/waves"
)

// member is an object of a team, all members of which have the version of the batch that
// wrote them, and say how many there are.
type member struct{ name, team, version, size int }

func (m *member) GetName() string      { return strconv.Itoa(m.name) }
func (m *member) GetNamespace() string { return "team" + strconv.Itoa(m.team) }
func (m *member) GetLabels() map[string]string {
	return map[string]string{"team": strconv.Itoa(m.team)}
}

const teamCount = 8

// league is a store of teams, with one writer and several readers.
type league struct {
	*index.Indexer[*member]
	team  *index.Index[int, *member]
	some  *index.Index[int, *member] // with repetitions, and other keys than the team
	rank  *index.Ordered[int64, *member]
	comes *index.Index[int, *member] // and goes
	over  atomic.Bool
	said  atomic.Int64
	sizes [teamCount]int // of the writer
	added bool           // comes
}

// TestReadersWaves: readers look at teams while each batch of a writer changes one team.
// However they read, and whatever the size of the batch, which decides whether it is made in place,
// a team is of one version and complete, and in a snapshot for as long as that is held.
func TestReadersWaves(t *testing.T) {
	waves.Run(t, 1, func(t *testing.T, seed uint64) {
		l := &league{
			Indexer: index.NewIndexer[*member](),
			team:    index.Single("team", func(m *member) (int, bool) { return m.team, true }),
			some: index.New("some", func(m *member) []int {
				return []int{m.team, teamCount + m.team, teamCount + m.name%3, m.team}
			}),
			rank:  index.NewOrdered("rank", func(m *member) (int64, bool) { return int64(m.team)<<32 + int64(m.version), true }),
			comes: index.Single("comes", func(m *member) (int, bool) { return m.version, m.version%2 == 0 }),
		}
		require.NoError(t, l.AddIndexes(l.team, l.some, l.rank, index.Labels[*member]("team")))
		var readers sync.WaitGroup
		for n := range uint64(2) {
			readers.Go(func() { l.read(t, rand.New(rand.NewPCG(seed, n))) })
		}
		r, writes := rand.New(rand.NewPCG(seed, 100)), 30
		if waves.IsLong() {
			writes = 300
		}
		for version := 1; version < writes && l.said.Load() == 0; version++ {
			l.write(t, r, version)
		}
		l.over.Store(true)
		readers.Wait()
		total := 0
		for _, n := range l.sizes {
			total += n
		}
		assert.Equal(t, total, l.Len())
	})
}

// write makes another team of one.
func (l *league) write(t *testing.T, r *rand.Rand, version int) {
	team := r.IntN(teamCount)
	name := (&member{team: team}).GetNamespace()
	size := []int{0, 1, 3, 40, 250, 1000, 3000}[r.IntN(7)]
	var members []*member
	first := 10_000 * r.IntN(2)
	for i := range size {
		members = append(members, &member{first + i, team, version, size})
	}
	switch r.IntN(10) {
	case 0:
		l.ReplaceNamespace(nil, name, members, "", index.Relisted)
	case 1:
		for m := range l.All() {
			if m.team != team {
				members = append(members, m)
			}
		}
		l.Replace(nil, members, "", index.Relisted)
	case 2:
		if l.added {
			l.RemoveIndexes(l.comes)
		} else {
			require.NoError(t, l.AddIndexes(l.comes))
		}
		l.added = !l.added
		return
	default:
		var changes []index.Change[*member]
		for m := range l.InNamespace(name) {
			if m.name < first || m.name >= first+size {
				changes = append(changes, index.Change[*member]{Delete: true, Object: m})
			}
		}
		for _, m := range members {
			changes = append(changes, index.Change[*member]{Object: m})
		}
		r.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
		l.Apply(nil, changes, "")
	}
	l.sizes[team] = size
}

// say fails the test, once.
func (l *league) say(t *testing.T, format string, args ...any) {
	if l.said.Add(1) == 1 {
		assert.Failf(t, "a reader sees what never was", format, args...)
	}
}

// read looks at teams until the writer is done.
func (l *league) read(t *testing.T, r *rand.Rand) {
	held, count := l.Snapshot(), 0
	for !l.over.Load() && l.said.Load() == 0 {
		if r.IntN(20) == 0 {
			held = l.Snapshot()
			count = held.Len()
		}
		team := r.IntN(teamCount)
		for kind, seq := range l.ways(team) {
			if l.lookAt(t, kind, team, seq); r.IntN(4) == 0 {
				break
			}
		}
		total := 0
		for other := range teamCount {
			l.lookAt(t, "snapshot", other, l.team.In(held).All(other))
			total += l.team.In(held).Len(other)
		}
		if count > 0 && (total != count || held.Len() != count) {
			l.say(t, "a snapshot of %d objects has %d, and %d by teams", count, held.Len(), total)
		}
		for m := range l.team.In(held).All(team) {
			if got, ok := held.Get(index.KeyOf(m)); !ok || got != m {
				l.say(t, "a snapshot does not find %v", m)
			}
		}
	}
}

// ways returns all ways to read a team.
func (l *league) ways(team int) map[string]iter.Seq[*member] {
	name := (&member{team: team}).GetNamespace()
	return map[string]iter.Seq[*member]{
		"index":     l.team.All(team),
		"second":    l.some.All(team),
		"namespace": l.InNamespace(name),
		"all":       l.All(),
		"intersect": index.Intersect(l.some.Is(team), l.team.Is(team)),
		"labels": l.Candidates("", labels.SelectorFromSet(labels.Set{
			"team": strconv.Itoa(team),
		})),
		"order": func(yield func(*member) bool) {
			for _, m := range l.rank.Range(index.Between(int64(team)<<32, int64(team+1)<<32)) {
				if !yield(m) {
					return
				}
			}
		},
	}
}

// lookAt fails the test if what is found of a team is of two versions, or not complete.
func (l *league) lookAt(t *testing.T, kind string, team int, found iter.Seq[*member]) {
	var first *member
	count := 0
	for m := range found {
		if m.team != team {
			continue
		}
		if first == nil {
			first = m
		}
		if count++; m.version != first.version {
			l.say(t, "%s: a team is of versions %d and %d", kind, first.version, m.version)
		}
	}
	if first != nil && count != first.size {
		l.say(t, "%s: %d of %d members are there", kind, count, first.size)
	}
}

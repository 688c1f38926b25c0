package typed

import "github.com/kubetyped/informer/queue"

// step applies changes that belong together, and tells that it has.
func (l *loop[T]) step(together *queue.List[T], version string) {
	if together.Part {
		l.lists.note("")
	}
	for i := range together.Changes {
		l.collect(&together.Changes[i])
	}
	l.flushAs(len(l.changes), version)
	if together.Done != nil {
		contain(together.Done)
	}
}

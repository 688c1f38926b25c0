package monitor

// Wake wakes the goroutine that receives from a channel, which has room for one. If the
// goroutine has not received since the last time, that one is enough. Wake does not wait.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// IsClosed reports whether a channel is closed, on which nothing is sent.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

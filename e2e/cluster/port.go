package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// Systems take the ports of outgoing connections from 32768 or above. Below, no
// client that tries to reconnect can take the API server's port while it is
// down.
const (
	lowestPort = 20000
	portRange  = 12000
	portTries  = 100
)

// freePort returns a TCP port of 127.0.0.1 without a listener. Nothing reserves it: another
// process may take it before the caller does.
func freePort() (int, error) {
	for range portTries {
		port := lowestPort + rand.IntN(portRange)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("find a free port: %w", err)
		}
		return port, listener.Close()
	}
	return 0, fmt.Errorf("find a free port: %d tries between %d and %d all in use",
		portTries, lowestPort, lowestPort+portRange)
}

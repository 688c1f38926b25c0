package pods

import (
	"fmt"
	"time"
)

// epoch is when the cluster was set up.
var epoch = time.Date(2026, time.March, 2, 9, 30, 0, 0, time.UTC)

// The kinds of random numbers of an application.
const (
	ofUID uint64 = iota
	ofTemplate
	ofNode
	ofToken
	ofTime
	ofContainer
	ofRestarts
	ofSandbox
	ofSuffix
)

// server is the container that an application is about; the others serve it.
const server = "server"

// app is an application: a Deployment with its ReplicaSet.
type app struct {
	seed   uint64
	number int
}

// random returns a random number of the application.
func (a app) random(of uint64) uint64 {
	return splitmix(splitmix(a.seed^0xa11) + uint64(a.number)<<8 + of)
}

func (a app) name() string { return AppName(a.number) }

// templateHash is what a Deployment adds to the names of its ReplicaSets.
func (a app) templateHash() string { return letters(a.random(ofTemplate), 10) }

func (a app) replicaSet() string { return a.name() + "-" + a.templateHash() }

func (a app) version() string { return fmt.Sprintf("v1.%d.%d", a.number%17, a.number%5) }

// deployed is when the template was written.
func (a app) deployed() time.Time {
	return epoch.Add(time.Duration(a.random(ofTime)%(60*24*3600)) * time.Second)
}

// containers returns the names of the containers: one application in three has an agent next to
// its server and proxy.
func (a app) containers() []string {
	if a.number%6 == 2 {
		return []string{server, "proxy", "agent"}
	}
	return []string{server, "proxy"}
}

// image returns the image of a container. All applications have the same proxy
// and agent.
func (a app) image(container string) string {
	if container == server {
		return "registry.example.com/shop/" + a.name() + ":" + a.version()
	}
	return "registry.example.com/platform/" + container + ":v2.7.1"
}

// imageID returns what a kubelet says that the image is.
func (a app) imageID(container string) string {
	if container == server {
		return "registry.example.com/shop/" + a.name() + "@sha256:" + hash(a.random(ofContainer))
	}
	return "registry.example.com/platform/" + container + "@sha256:" + hash(uint64(container[0]))
}

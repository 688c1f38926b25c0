//go:build !race

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
)

// Times of etcd's heartbeat and election, in milliseconds. The only member waits for no other:
// short ones elect it a tenth of a second after the start.
const (
	tickMs     = 10
	electionMs = 100
)

// runEtcd runs one etcd member on unix sockets until ctx ends or the parent is gone. It returns
// an error if etcd cannot start or ends by itself. When the parent is gone, it removes the
// parent's whole folder, as no other process is left to do it.
func runEtcd(ctx context.Context, gone <-chan struct{}, args []string) error {
	flags := flag.NewFlagSet("etcd", flag.ContinueOnError)
	dir := flags.String("dir", "", "folder of the cluster; the data go below it")
	client := flags.String("client-socket", "", "unix socket for clients")
	peer := flags.String("peer-socket", "", "unix socket for peers, of which there are none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" || *client == "" || *peer == "" {
		return errors.New("etcd: --dir, --client-socket and --peer-socket are required")
	}
	err := serveEtcd(ctx, gone, etcdConfig(filepath.Join(*dir, "etcd"), *client, *peer))
	select {
	case <-gone:
		return errors.Join(err, os.RemoveAll(*dir))
	default:
		return err
	}
}

// etcdConfig describes a single member that is quick to start and that does
// not sync to disk: its data are thrown away anyway, and a killed process
// (unlike a lost machine) loses nothing that was written.
func etcdConfig(data, client, peer string) *embed.Config {
	clients := []url.URL{{Scheme: "unix", Path: client}}
	peers := []url.URL{{Scheme: "unix", Path: peer}}

	cfg := embed.NewConfig()
	cfg.Name = "e2e"
	cfg.Dir = data
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = clients, clients
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = peers, peers
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.TickMs, cfg.ElectionMs = tickMs, electionMs
	cfg.UnsafeNoFsync = true
	cfg.LogLevel = "warn"
	return cfg
}

func serveEtcd(ctx context.Context, gone <-chan struct{}, cfg *embed.Config) error {
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer server.Close()
	select {
	case <-ctx.Done():
		return nil
	case <-gone:
		return nil
	case err := <-server.Err():
		return fmt.Errorf("etcd ended by itself: %w", err)
	case <-server.Server.StopNotify():
		return errors.New("etcd ended by itself")
	}
}

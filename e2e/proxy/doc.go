// Package proxy stands between a client and a real API server, and makes the
// faults that the server cannot make on command.
//
//	p, err := proxy.Start(cluster.Config())
//	if err != nil {
//		return err
//	}
//	defer p.Close()
//	client, err := kubernetes.NewForConfig(p.Config())
//
// It listens on 127.0.0.1 and speaks TLS with its own certificate, in HTTP/2 or HTTP/1.1 as the
// client likes (rest.TLSClientConfig.NextProtos). Watch events pass one by one as they come.
// Requests keep their Authorization header, so that credentials are judged by the API server.
//
// # What tests can do
//
//   - Delay, refuse, abort, slow down and cut requests: Inject.
//   - End and hold watches, and hold requests: CutWatches, HoldWatches,
//     HoldRequests.
//   - Let connections die without a word, with one, or not come about at all:
//     FreezeConnections, Blackhole, ResetConnections, Refuse.
//   - Look: Requests, Responses, Cuts, Watches, Connections, Injection.Count;
//     and wait for any of these: WaitFor.
//
// Faults are named as those of apitest.Server, where it has them.
//
// # What it does not do
//
//   - The system's side of a connection stays alive while the proxy is silent: it acknowledges
//     what the client sends and answers its TCP keep-alives. Only protocols above TCP notice,
//     such as HTTP/2's pings or a deadline.
//   - A request that the API server could not be reached for ends without an
//     answer, which is an error of its HTTP/2 stream. Without the proxy, the
//     connection would be refused or reset; see Refuse and ResetConnections.
//   - Client certificates end at the proxy, which shows the one of the upstream configuration
//     for all clients.
package proxy

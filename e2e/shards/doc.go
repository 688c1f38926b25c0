// Package shards runs processes that share Pods, by package typed/shard, on a real
// kube-apiserver that can list and watch shards. They are killed, stopped, cut off and restarted
// while Pods change, and all write into one journal, which shows whether two of them have ever
// worked on one Pod, and whether one was forgotten.
package shards

package main

import (
	"context"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// leadAndReconcile reconciles while it holds the Lease, and reports the time of its first reconcile in milliseconds since the Unix epoch.
// The argument is the namespace of the Lease.
func leadAndReconcile(ctx context.Context, args []string) error {
	var once sync.Once
	return runManager(ctx, ctrl.Options{
		LeaderElection:                true,
		LeaderElectionID:              "bench",
		LeaderElectionNamespace:       args[0],
		LeaderElectionReleaseOnCancel: true,
	}, 1, func() {
		once.Do(func() { report(map[string]int64{"firstReconcileAt": time.Now().UnixMilli()}) })
	})
}

package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// noopKeys is the number of keys in a batch.
const noopKeys = 10_000

// reconcileNothing reports the number of reconciles that do nothing, and their CPU seconds. The arguments are the number of workers and the
// duration in seconds.
func reconcileNothing(ctx context.Context, args []string) error {
	var reconciled atomic.Int64
	batchDone := make(chan struct{}, 1)
	instance, err := controller.NewTypedUnmanaged("noop", controller.TypedOptions[reconcile.Request]{
		MaxConcurrentReconciles: number(args[0]),
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			if reconciled.Add(1)%noopKeys == 0 {
				batchDone <- struct{}{}
			}
			return reconcile.Result{}, nil
		}),
	})
	if err != nil {
		return err
	}
	requests := make([]reconcile.Request, noopKeys)
	for i := range requests {
		requests[i] = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "bench", Name: fmt.Sprintf("app-%d", i)}}
	}
	queues := make(chan workqueue.TypedRateLimitingInterface[reconcile.Request], 1)
	err = instance.Watch(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queues <- queue
		return nil
	}))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- instance.Start(ctx) }()
	queue := <-queues
	batches := func(duration time.Duration) {
		for until := time.Now().Add(duration); time.Now().Before(until); {
			for _, request := range requests {
				queue.Add(request)
			}
			<-batchDone
		}
	}
	batches(time.Second)
	began, before := reconciled.Load(), cpuSeconds()
	batches(time.Duration(number(args[1])) * time.Second)
	report(map[string]float64{"reconciles": float64(reconciled.Load() - began), "cpuSeconds": cpuSeconds() - before})
	cancel()
	return <-ended
}

package main

import (
	"context"
	"strconv"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// observer measures the latency of each reconcile in milliseconds. The latency starts at the time in spec.labels.sent of the App.
type observer struct {
	client.Client
	mutex sync.Mutex
	ms    []float64
}

func (r *observer) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	now := float64(time.Now().UnixMicro()) / 1000
	var app App
	if err := r.Get(ctx, request.NamespacedName, &app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if sent, err := strconv.ParseFloat(app.Spec.Labels["sent"], 64); err == nil {
		r.mutex.Lock()
		r.ms = append(r.ms, now-sent)
		r.mutex.Unlock()
	}
	return ctrl.Result{}, nil
}

// observeApps reconciles without a write, and reports all latencies when the process is terminated.
func observeApps(ctx context.Context, _ []string) error {
	manager, err := ctrl.NewManager(clusterConfig(), ctrl.Options{Scheme: newScheme(), Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	observer := &observer{Client: manager.GetClient()}
	if err := ctrl.NewControllerManagedBy(manager).For(&App{}).Complete(observer); err != nil {
		return err
	}
	err = manager.Start(ctx)
	report(map[string][]float64{"ms": observer.ms})
	return err
}

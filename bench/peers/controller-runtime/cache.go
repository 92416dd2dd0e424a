package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
)

// cacheApps reports the seconds until its cache of Apps has synced. After a line on standard input, it gets all Apps repeatedly, and
// reports the number of gets and their CPU seconds. The arguments are the namespace of the Apps, their number, and the seconds of gets.
func cacheApps(ctx context.Context, args []string) error {
	namespace, count, seconds := args[0], number(args[1]), number(args[2])
	began := time.Now()
	apps, err := cluster.New(clusterConfig(), func(options *cluster.Options) { options.Scheme = newScheme() })
	if err != nil {
		return err
	}
	if _, err := apps.GetCache().GetInformer(ctx, &App{}, cache.BlockUntilSynced(false)); err != nil {
		return err
	}
	go func() {
		if err := apps.Start(ctx); err != nil {
			panic(err)
		}
	}()
	if !apps.GetCache().WaitForCacheSync(ctx) {
		return errors.New("the cache did not sync")
	}
	report(map[string]float64{"syncSeconds": time.Since(began).Seconds()})

	bufio.NewScanner(os.Stdin).Scan()
	names := make([]types.NamespacedName, count)
	for i := range names {
		names[i] = types.NamespacedName{Namespace: namespace, Name: fmt.Sprintf("app-%d", i)}
	}
	reader, gets := apps.GetClient(), 0
	before, until := cpuSeconds(), time.Now().Add(time.Duration(seconds)*time.Second)
	for time.Now().Before(until) {
		for _, name := range names {
			var app App
			if err := reader.Get(ctx, name, &app); err != nil {
				return err
			}
		}
		gets += count
	}
	report(map[string]float64{"gets": float64(gets), "cpuSeconds": cpuSeconds() - before})
	<-ctx.Done()
	return nil
}

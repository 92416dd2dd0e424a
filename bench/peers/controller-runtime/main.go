// The programs of the benchmarks that are written with controller-runtime. The first argument selects one of them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

var programs = map[string]func(ctx context.Context, args []string) error{
	"webhook":   serveWebhooks,
	"reconcile": reconcileApps,
	"lead":      leadAndReconcile,
	"observe":   observeApps,
	"cache":     cacheApps,
	"noop":      reconcileNothing,
}

func main() {
	ctrl.SetLogger(logr.Discard())
	program, found := programs[os.Args[1]]
	if !found {
		fmt.Fprintf(os.Stderr, "%s is not a program\n", os.Args[1])
		os.Exit(2)
	}
	if err := program(ctrl.SetupSignalHandler(), os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(groupVersion, &App{}, &AppList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, coordinationv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
}

// clusterConfig reads the kubeconfig that KUBECONFIG names. The default QPS of controller-runtime disables client-side rate limiting.
func clusterConfig() *rest.Config {
	return ctrl.GetConfigOrDie()
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

// report writes one line of JSON, which the benchmark reads.
func report(result any) {
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
}

// cpuSeconds returns the CPU time that this process has used.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return (time.Duration(usage.Utime.Nano()) + time.Duration(usage.Stime.Nano())).Seconds()
}

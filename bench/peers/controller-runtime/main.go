// The webhook server of the comparison that is written with controller-runtime. Started as PROGRAM PORT CERT KEY.
package main

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func main() {
	ctrl.SetLogger(logr.Discard())
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(groupVersion, &App{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	server := webhook.NewServer(webhook.Options{
		Host:     "127.0.0.1",
		Port:     port,
		CertDir:  filepath.Dir(os.Args[2]),
		CertName: filepath.Base(os.Args[2]),
		KeyName:  filepath.Base(os.Args[3]),
	})
	server.Register("/mutate-bench-proreus-dev-v1-app", admission.WithDefaulter(scheme, defaulter{}))
	server.Register("/validate-bench-proreus-dev-v1-app", admission.WithValidator(scheme, validator{}))
	if err := server.Start(ctrl.SetupSignalHandler()); err != nil {
		panic(err)
	}
}

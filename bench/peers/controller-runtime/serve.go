package main

import (
	"context"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// serveWebhooks serves the webhooks of App. Its arguments are PORT CERT KEY.
func serveWebhooks(ctx context.Context, args []string) error {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(groupVersion, &App{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	server := webhook.NewServer(webhook.Options{
		Host:     "127.0.0.1",
		Port:     number(args[0]),
		CertDir:  filepath.Dir(args[1]),
		CertName: filepath.Base(args[1]),
		KeyName:  filepath.Base(args[2]),
	})
	server.Register("/mutate-bench-proreus-dev-v1-app", admission.WithDefaulter(scheme, defaulter{}))
	server.Register("/validate-bench-proreus-dev-v1-app", admission.WithValidator(scheme, validator{}))
	return server.Start(ctx)
}

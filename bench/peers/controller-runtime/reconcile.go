package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// appReconciler creates a Deployment for each App, and writes the observed generation to the status of the App.
type appReconciler struct {
	client.Client
	// first, if not nil, is called at the beginning of every reconcile.
	first func()
}

func (r *appReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if r.first != nil {
		r.first()
	}
	var app App
	if err := r.Get(ctx, request.NamespacedName, &app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error { return r.setDeployment(&app, deployment) }); err != nil {
		return ctrl.Result{}, err
	}
	if app.Status.ObservedGeneration == app.Generation {
		return ctrl.Result{}, nil
	}
	before := app.DeepCopy()
	app.Status.ObservedGeneration = app.Generation
	return ctrl.Result{}, r.Status().Patch(ctx, &app, client.MergeFrom(before))
}

// setDeployment sets the fields that depend on the App, and keeps the defaults of the API server.
func (r *appReconciler) setDeployment(app *App, deployment *appsv1.Deployment) error {
	labels := map[string]string{"app": app.Name}
	deployment.Spec.Replicas = ptr.To(ptr.Deref(app.Spec.Replicas, 1))
	if deployment.Spec.Selector == nil {
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	}
	deployment.Spec.Template.Labels = labels
	if len(deployment.Spec.Template.Spec.Containers) == 0 {
		deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app"}}
	}
	deployment.Spec.Template.Spec.Containers[0].Image = app.Spec.Image
	return controllerutil.SetControllerReference(app, deployment, r.Scheme())
}

// reconcileApps reconciles until the process is terminated. Its argument is the number of workers.
func reconcileApps(ctx context.Context, args []string) error {
	return runManager(ctx, ctrl.Options{}, number(args[0]), nil)
}

func runManager(ctx context.Context, options ctrl.Options, workers int, first func()) error {
	options.Scheme = newScheme()
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	manager, err := ctrl.NewManager(clusterConfig(), options)
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(&App{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&appReconciler{Client: manager.GetClient(), first: first})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

//! Creates a Deployment for each App, and writes the observed generation to the status. The argument is the number of workers.

use crate::app::{AppResource, Status};
use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::controller::{Action, Config, Controller};
use kube::runtime::{WatchStreamExt, predicates, reflector, watcher};
use kube::{Client, Resource, ResourceExt};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

async fn reconcile(app: Arc<AppResource>, client: Arc<Client>) -> kube::Result<Action> {
    let (name, namespace) = (app.name_any(), app.namespace().expect("Apps have namespaces"));
    let labels = json!({"app": name});
    let deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "ownerReferences": [app.controller_owner_ref(&())]},
        "spec": {
            "replicas": app.spec.replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": app.spec.image}]}},
        },
    });
    let deployments: Api<Deployment> = Api::namespaced((*client).clone(), &namespace);
    deployments.patch(&name, &PatchParams::apply("kube-rs").force(), &Patch::Apply(&deployment)).await?;

    let generation = app.metadata.generation;
    if app.status.as_ref().and_then(|status| status.observed_generation) != generation {
        let apps: Api<AppResource> = Api::namespaced((*client).clone(), &namespace);
        let status = json!({"status": Status { observed_generation: generation }});
        apps.patch_status(&name, &PatchParams::default(), &Patch::Merge(&status)).await?;
    }
    Ok(Action::await_change())
}

pub async fn reconcile_apps(args: &[String]) {
    let client = Client::try_default().await.expect("a client");
    let (reader, writer) = reflector::store();
    let apps = watcher(Api::<AppResource>::all(client.clone()), watcher::Config::default())
        .default_backoff()
        .reflect(writer)
        .applied_objects()
        .predicate_filter(predicates::generation, Default::default());
    Controller::for_stream(apps, reader)
        .owns(Api::<Deployment>::all(client.clone()), watcher::Config::default())
        .with_config(Config::default().concurrency(args[0].parse().expect("a number of workers")))
        .shutdown_on_signal()
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(1)), Arc::new(client))
        .for_each(|_| std::future::ready(()))
        .await;
}

//! Measures the latency of each reconcile in milliseconds. The latency starts at the time in `spec.labels.sent` of the App. The latencies
//! are reported when the process is terminated.

use crate::app::AppResource;
use futures::StreamExt;
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use kube::{Api, Client};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

async fn observe(app: Arc<AppResource>, seen: Arc<Mutex<Vec<f64>>>) -> kube::Result<Action> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time after 1970").as_secs_f64() * 1000.0;
    let sent = app.spec.labels.as_ref().and_then(|labels| labels.get("sent")?.parse::<f64>().ok());
    if let Some(sent) = sent {
        seen.lock().expect("no panic").push(now - sent);
    }
    Ok(Action::await_change())
}

pub async fn observe_apps() {
    let client = Client::try_default().await.expect("a client");
    let seen = Arc::new(Mutex::new(Vec::new()));
    Controller::new(Api::<AppResource>::all(client), watcher::Config::default())
        .shutdown_on_signal()
        .run(observe, |_, _, _| Action::requeue(Duration::from_secs(1)), seen.clone())
        .for_each(|_| std::future::ready(()))
        .await;
    println!("{}", json!({"ms": *seen.lock().expect("no panic")}));
}

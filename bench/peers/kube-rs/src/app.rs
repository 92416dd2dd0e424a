//! The kind App. serde applies the same defaults as the schema of the kind in bench/app.ts.

use kube::CustomResource;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct App {
    pub api_version: String,
    pub kind: String,
    #[serde(default)]
    pub metadata: Map<String, Value>,
    pub spec: Spec,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Value>,
}

/// The derived `AppResource` is the object that clients and controllers use.
#[derive(Clone, CustomResource, Debug, Deserialize, Serialize)]
#[kube(group = "bench.proreus.dev", version = "v1", kind = "App", root = "AppResource", plural = "apps")]
#[kube(namespaced, status = "Status", schema = "disabled")]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    pub image: String,
    #[serde(default = "one")]
    pub replicas: i32,
    #[serde(default)]
    pub paused: bool,
    #[serde(default)]
    pub strategy: Strategy,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containers: Option<Vec<Container>>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Strategy {
    pub r#type: String,
    pub max_surge: IntOrString,
}

impl Default for Strategy {
    fn default() -> Self {
        Self { r#type: "RollingUpdate".into(), max_surge: IntOrString::Text("25%".into()) }
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum IntOrString {
    Int(i64),
    Text(String),
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Container {
    pub name: String,
    pub image: String,
    #[serde(default = "if_not_present")]
    pub pull_policy: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<Variable>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<Vec<Port>>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Variable {
    pub name: String,
    #[serde(default)]
    pub value: String,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Port {
    pub port: i32,
    #[serde(default = "tcp")]
    pub protocol: String,
}

fn one() -> i32 {
    1
}
fn if_not_present() -> String {
    "IfNotPresent".into()
}
fn tcp() -> String {
    "TCP".into()
}

//! Serves the webhooks of App. The arguments are PORT CERT KEY.

use crate::app::App;
use crate::validate;
use axum::{Json, Router, body::Bytes, extract::DefaultBodyLimit, routing::post};
use axum_server::tls_rustls::RustlsConfig;
use kube::core::DynamicObject;
use kube::core::admission::{AdmissionResponse, AdmissionReview};
use serde::Deserialize;
use serde_json::{Value, json};

/// The fields of an AdmissionReview that the handlers need. The object stays a `serde_json::Value`, because the patch is the difference
/// between this value and the App with defaults.
#[derive(Deserialize)]
struct Review {
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    uid: String,
    object: Value,
}

async fn mutate(body: Bytes) -> Json<AdmissionReview<DynamicObject>> {
    let (request, app) = match read(&body) {
        Ok(read) => read,
        Err(message) => return Json(AdmissionResponse::invalid(message).into_review()),
    };
    let target = serde_json::to_value(&app).expect("an App is JSON");
    let patch = json_patch::diff(&request.object, &target);
    let mut response = AdmissionResponse::invalid("");
    (response.allowed, response.uid, response.result) = (true, request.uid, Default::default());
    Json(match response.with_patch(patch) {
        Ok(response) => response.into_review(),
        Err(error) => AdmissionResponse::invalid(error.to_string()).into_review(),
    })
}

async fn validate(body: Bytes) -> Json<Value> {
    let answer = |response: Value| Json(json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": response}));
    let (request, app) = match read(&body) {
        Ok(read) => read,
        Err(message) => return answer(json!({"uid": "", "allowed": false, "status": {"message": message}})),
    };
    let problems = validate::validate(&app);
    if problems.is_empty() {
        return answer(json!({"uid": request.uid, "allowed": true}));
    }
    let causes: Vec<_> = problems.iter().map(|one| json!({"reason": "FieldValueInvalid", "field": one.field, "message": one.message})).collect();
    let text = problems.iter().map(|one| format!("{}: {}", one.field, one.message)).collect::<Vec<_>>().join(", ");
    answer(json!({"uid": request.uid, "allowed": false, "status": {
        "status": "Failure", "code": 422, "reason": "Invalid", "message": format!("App is invalid: [{text}]"), "details": {"causes": causes}}}))
}

fn read(body: &[u8]) -> Result<(Request, App), String> {
    let review: Review = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let app = App::deserialize(&review.request.object).map_err(|error| error.to_string())?;
    Ok((review.request, app))
}

pub async fn serve(args: &[String]) {
    rustls::crypto::ring::default_provider().install_default().expect("the first provider");
    let tls = RustlsConfig::from_pem_file(&args[1], &args[2]).await.expect("a certificate and its key");
    let router = Router::new()
        .route("/mutate-bench-proreus-dev-v1-app", post(mutate))
        .route("/validate-bench-proreus-dev-v1-app", post(validate))
        .layer(DefaultBodyLimit::max(8 * 1024 * 1024));
    let address: std::net::SocketAddr = format!("127.0.0.1:{}", args[0]).parse().expect("a port");
    axum_server::bind_rustls(address, tls).serve(router.into_make_service()).await.expect("it serves");
}

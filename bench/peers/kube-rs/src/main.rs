//! The programs of the benchmarks that are written with kube-rs. The first argument selects one of them.

mod app;
mod cache;
mod observe;
mod reconcile;
mod serve;
mod validate;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (program, args) = args.split_first().expect("the name of a program");
    if program == "webhook" {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        return runtime.expect("a runtime").block_on(serve::serve(args));
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        match program.as_str() {
            "reconcile" => reconcile::reconcile_apps(args).await,
            "observe" => observe::observe_apps().await,
            "cache" => cache::cache_apps(args).await,
            _ => panic!("{program} is not a program"),
        }
    })
}

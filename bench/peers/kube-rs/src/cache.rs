//! Reports the seconds until a reflector's store has all Apps. After a line on standard input, it gets all Apps repeatedly, and reports
//! the number of gets and their CPU seconds. The arguments are the namespace of the Apps, their number, and the seconds of gets.

use crate::app::AppResource;
use futures::StreamExt;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, BufReader};

pub async fn cache_apps(args: &[String]) {
    let number = |index: usize| args[index].parse::<u64>().expect("a number");
    let (namespace, count, seconds) = (&args[0], number(1), number(2));
    let began = Instant::now();
    let client = Client::try_default().await.expect("a client");
    let (reader, writer) = reflector::store();
    let stream = watcher(Api::<AppResource>::all(client), watcher::Config::default()).default_backoff().reflect(writer);
    tokio::spawn(stream.for_each(|_| std::future::ready(())));
    reader.wait_until_ready().await.expect("the store's writer lives");
    println!("{}", json!({"syncSeconds": began.elapsed().as_secs_f64()}));

    BufReader::new(tokio::io::stdin()).read_line(&mut String::new()).await.expect("a line");
    let refs: Vec<_> = (0..count).map(|index| ObjectRef::<AppResource>::new(&format!("app-{index}")).within(namespace)).collect();
    let (before, until, mut gets) = (cpu_seconds(), Instant::now() + Duration::from_secs(seconds), 0);
    while Instant::now() < until {
        for one in &refs {
            std::hint::black_box(reader.get(one).expect("the App is there"));
        }
        gets += count;
    }
    println!("{}", json!({"gets": gets, "cpuSeconds": cpu_seconds() - before}));
    std::future::pending::<()>().await;
}

/// Returns the CPU time that this process has used, which proc(5) counts in ticks of 10 ms.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("proc is mounted");
    let fields: Vec<&str> = stat.rsplit_once(") ").expect("the name of the program").1.split(' ').collect();
    let ticks = |index: usize| fields[index].parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) / 100.0
}

//! Validates an App with handwritten code. The rules are those of the schema in bench/app.ts.

use crate::app::{App, Container};
use regex::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;

pub struct Problem {
    pub field: String,
    pub message: String,
}

static IMAGE: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[a-z0-9./:@_-]+$").unwrap());
static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$").unwrap());
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[A-Za-z_][A-Za-z0-9_]*$").unwrap());

pub fn validate(app: &App) -> Vec<Problem> {
    let mut problems = Vec::new();
    let spec = &app.spec;
    text(&mut problems, &spec.image, 1, 256, Some(&IMAGE), || "spec.image".into());
    range(&mut problems, spec.replicas, 0, 1000, || "spec.replicas".into());
    one_of(&mut problems, &spec.strategy.r#type, &["Recreate", "RollingUpdate"], || "spec.strategy.type".into());
    for (key, value) in spec.labels.iter().flatten() {
        text(&mut problems, value, 0, 63, None, || format!("spec.labels.{key}"));
    }
    if let Some(containers) = &spec.containers {
        if containers.len() > 10_000 {
            problems.push(Problem { field: "spec.containers".into(), message: "must have at most 10000 items".into() });
        }
        for (index, container) in containers.iter().enumerate() {
            check(&mut problems, container, index);
        }
    }
    problems
}

fn check(problems: &mut Vec<Problem>, container: &Container, index: usize) {
    text(problems, &container.name, 0, 63, Some(&NAME), || format!("spec.containers[{index}].name"));
    text(problems, &container.image, 1, usize::MAX, None, || format!("spec.containers[{index}].image"));
    one_of(problems, &container.pull_policy, &["Always", "Never", "IfNotPresent"], || format!("spec.containers[{index}].pullPolicy"));
    if let Some(env) = &container.env {
        let mut seen = HashSet::with_capacity(env.len());
        for (j, variable) in env.iter().enumerate() {
            text(problems, &variable.name, 0, usize::MAX, Some(&VARIABLE), || format!("spec.containers[{index}].env[{j}].name"));
            text(problems, &variable.value, 0, 4096, None, || format!("spec.containers[{index}].env[{j}].value"));
            if !seen.insert(variable.name.as_str()) {
                problems.push(Problem { field: format!("spec.containers[{index}].env[{j}]"), message: "is there already".into() });
            }
        }
    }
    for (j, port) in container.ports.iter().flatten().enumerate() {
        range(problems, port.port, 1, 65535, || format!("spec.containers[{index}].ports[{j}].port"));
        one_of(problems, &port.protocol, &["TCP", "UDP", "SCTP"], || format!("spec.containers[{index}].ports[{j}].protocol"));
    }
}

fn text(problems: &mut Vec<Problem>, value: &str, least: usize, most: usize, pattern: Option<&Regex>, field: impl Fn() -> String) {
    // A character has one to four bytes. Characters are counted only if the number of bytes does not decide about the limits.
    let length = if value.len() > most || value.len() < 4 * least { value.chars().count() } else { value.len() };
    if length < least {
        problems.push(Problem { field: field(), message: format!("should be at least {least} chars long") });
    }
    if length > most {
        problems.push(Problem { field: field(), message: format!("should be at most {most} chars long") });
    }
    if pattern.is_some_and(|pattern| !pattern.is_match(value)) {
        problems.push(Problem { field: field(), message: format!("{value:?} should match '{}'", pattern.unwrap()) });
    }
}

fn range(problems: &mut Vec<Problem>, value: i32, least: i32, most: i32, field: impl Fn() -> String) {
    if !(least..=most).contains(&value) {
        problems.push(Problem { field: field(), message: format!("{value} should be from {least} to {most}") });
    }
}

fn one_of(problems: &mut Vec<Problem>, value: &str, allowed: &[&str], field: impl Fn() -> String) {
    if !allowed.contains(&value) {
        problems.push(Problem { field: field(), message: format!("{value:?} is not one of {allowed:?}") });
    }
}

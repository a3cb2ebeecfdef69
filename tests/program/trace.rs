//! `picklock replay --trace`.

use crate::common::picklock;

fn trace(arguments: &[&str]) -> String {
    let run = [
        "replay",
        "redis/redlock-half",
        "--case",
        "redlock",
        "--seed",
        "0",
        "--trace",
    ];
    let output = picklock(&[&run, arguments].concat());
    let text = output.stdout;
    let begins = text.find("Trace: ").expect("there is a trace");
    text[begins..].to_owned()
}

#[test]
fn a_redlock_minority_is_understood_from_the_trace_alone() {
    let text = trace(&["--of", "contender-1"]);
    let answers = |server: u32, text: &str| {
        let ends = format!("server-{server} to contender-1");
        text.lines()
            .any(|line| line.contains(&ends) && line.contains("received  status OK"))
    };
    let granted: Vec<u32> = (1..=5).filter(|server| answers(*server, &text)).collect();
    assert!(!granted.is_empty(), "{text}");
    assert!(text.contains("contender-1 to server-1"), "{text}");
    assert!(text.contains("sent      SET lock:a "), "{text}");
    assert!(!text.contains("contender-2 to server"), "{text}");
}

#[test]
fn a_trace_can_be_cut_to_a_time() {
    let text = trace(&["--between", "0s..10ms"]);
    let seconds = text.lines().skip(1).map(|line| {
        let at = line.split_whitespace().next().unwrap_or_default();
        at.parse::<f64>().expect("each line begins with its time")
    });
    let seconds: Vec<f64> = seconds.collect();
    assert!(!seconds.is_empty());
    assert!(seconds.iter().all(|at| *at <= 0.01), "{text}");
}

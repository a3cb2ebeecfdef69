//! Whose settings clients of Redis have.

use std::time::Duration;

use picklock_scenarios::{Catalogue, parse};
use picklock_sim::plan::{ConnectionMode, Deployment, RedisLibrary, SwitchMaster};

const SENTINELS: &str = "replicas = 2\nsentinels = 3\n";

/// How clients are set in the only case of a file.
fn deployment(service: &str, case: &str) -> Deployment {
    let text = format!("[service.redis]\n{service}\n[workload]\n[[case]]\n{case}\n");
    let scenario = parse("mine", &text, &Catalogue::EVERYTHING).expect("it has no mistake");
    let deployment = scenario.cases[0].plan.service.get::<Deployment>();
    deployment.expect("it stands on Redis").clone()
}

#[test]
fn before_sentinels_a_recipe_has_the_settings_of_its_library() {
    let redisson = deployment(SENTINELS, "algorithm = \"redisson-lock\"");
    assert_eq!(redisson.poll, Some(Duration::from_secs(1)));
    assert_eq!(redisson.timeout, Duration::from_secs(3));
    assert_eq!((redisson.retries, redisson.resend), (4, false));
    assert_eq!(redisson.close_on_timeout, Some(false));
    let pattern = deployment(SENTINELS, "algorithm = \"redis-compare-and-delete\"");
    assert_eq!(pattern.poll, None);
    assert_eq!(pattern.timeout, Deployment::default().timeout);
    let alone = deployment("", "algorithm = \"redisson-lock\"");
    assert_eq!(alone, Deployment::default());
}

#[test]
fn what_a_file_says_of_clients_counts_beside_the_library_of_the_recipe() {
    let said = format!("{SENTINELS}poll = \"5s\"\nretries = 1\nconnections = {{ pool = 2 }}\n");
    let redisson = deployment(&said, "algorithm = \"redisson-lock\"");
    assert_eq!(redisson.poll, Some(Duration::from_secs(5)));
    assert_eq!(redisson.retries, 1);
    assert_eq!(redisson.connections, ConnectionMode::Pool(2));
    assert_eq!(redisson.timeout, Duration::from_secs(3));
    let replays = deployment(
        &format!("{SENTINELS}replay = true\n"),
        "algorithm = \"redisson-lock\"",
    );
    assert_eq!((replays.replay, replays.retries), (true, 0));
}

#[test]
fn a_file_or_a_case_names_another_library_or_none() {
    let of_file = deployment(
        &format!("{SENTINELS}client = \"jedis\"\n"),
        "algorithm = \"redisson-lock\"",
    );
    let of_case = deployment(
        SENTINELS,
        "algorithm = \"redisson-lock\"\nclient = \"jedis\"",
    );
    assert_eq!(of_file, of_case);
    assert_eq!(of_file.switch_master, SwitchMaster::Every);
    let none = deployment(
        SENTINELS,
        "algorithm = \"redisson-lock\"\nclient = \"none\"",
    );
    let neutral = deployment(SENTINELS, "algorithm = \"redis-compare-and-delete\"");
    assert_eq!(none, neutral);
}

#[test]
fn every_recipe_of_a_library_names_one_that_there_is() {
    for recipe in Catalogue::EVERYTHING.algorithms {
        let library = recipe.client_library();
        assert!(library.is_none_or(|name| RedisLibrary::named(name).is_some()));
    }
}

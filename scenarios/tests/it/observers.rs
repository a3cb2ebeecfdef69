//! Observers in scenario files: how many there are, and how they are called.

use picklock_algorithms::Recipe;
use picklock_algorithms::registry::RECIPES;
use picklock_scenarios::{Catalogue, Diagnostic, Scenario, describe};
use picklock_sim::plan::{Fault, ServerName, Service};

fn parse(service: &str, target: &str) -> Result<Scenario, Vec<Diagnostic>> {
    let text = format!(
        r#"claim = "An observer has a name."
because = "It has a number."
source = "Here"

[service.zookeeper]
{service}

[[fault]]
when.acquired = {{ by = "contender-1" }}
inject.crash-server = {{ target = "{target}" }}

[[case]]
algorithm = "zk-hardened"
"#
    );
    picklock_scenarios::parse("zookeeper/test", &text, &Catalogue::EVERYTHING)
}

fn mistake(service: &str, target: &str) -> String {
    match parse(service, target) {
        Ok(_) => panic!("this should not parse: {service}, {target}"),
        Err(mistakes) => mistakes[0].to_string(),
    }
}

#[test]
fn an_observer_is_called_by_its_number_and_written_as_it_is_read() {
    let scenario = parse("observers = 2", "observer-2").expect("there are two");
    let case = &scenario.cases[0];
    let Service::ZooKeeper(ensemble) = &case.plan.service else {
        panic!("no ensemble");
    };
    assert_eq!((ensemble.servers, ensemble.observers), (3, 2));
    let fault = &case.plan.faults[0].inject;
    let target = ServerName::Observer(1);
    assert!(matches!(fault, Fault::CrashServer { target: struck, .. } if *struck == target));
    assert_eq!(describe::fault(fault), "crash-server observer-2 for good");
    let written = picklock_scenarios::write(&scenario, case);
    assert!(written.contains("observers = 2"), "{written}");
    assert!(written.contains("target = \"observer-2\""), "{written}");
}

#[test]
fn what_cannot_be_is_answered_with_what_there_is() {
    let all = [
        ("servers = 1\nobservers = 1", "leader"),
        ("servers = [1, 3]\nobservers = 1", "leader"),
        ("observers = 9", "leader"),
        ("observers = -1", "leader"),
        ("", "observer-1"),
        ("observers = 1", "observer-0"),
        ("observers = 2", "observer-3"),
        ("observers = 2", "server-4"),
        ("observers = 2", "follower-3"),
        ("observers = 1", "obsever-1"),
    ];
    let shown = all.map(|(service, target)| mistake(service, target));
    insta::assert_snapshot!("observers", shown.join("\n\n"));
}

#[test]
fn every_recipe_of_zookeeper_gets_the_lock_where_there_are_observers() {
    use picklock_algorithms::clients::ServiceKind;
    use picklock_checker::EventKind;
    let scenario = parse("observers = 2", "observer-2").expect("there are two");
    let all = RECIPES.iter();
    // Their flaws need no fault: a call that never returns, and a release that fails.
    const AS_PRINTED: [&str; 2] = ["zk-same-name-polling-printed", "zk-counter-not-set"];
    let returns = |recipe: &&Recipe| !AS_PRINTED.contains(&recipe.name);
    let all = all.filter(|recipe| recipe.build.service() == ServiceKind::ZooKeeper);
    for recipe in all.filter(returns) {
        let mut plan = scenario.cases[0].plan.clone();
        plan.recipe = *recipe;
        plan.faults.clear();
        let history = picklock_sim::simulate(&plan, 1).run.history;
        let grants = history.events.iter();
        let grants = grants.filter(|event| matches!(event.what, EventKind::Acquired { .. }));
        assert!(grants.count() > 1, "{}", recipe.name);
    }
}

//! A resource that checks tokens is for recipes that promise some.

use picklock_algorithms::registry::RECIPES;
use picklock_algorithms::{Claim, LockKind, Recipe};
use picklock_checker::EventKind;
use picklock_scenarios::{Catalogue, Diagnostic, Scenario, parse};
use picklock_sim::simulate;

fn promises_tokens(recipe: &Recipe) -> bool {
    recipe.claims.contains(&Claim::FencingMonotonic)
}

fn read(head: &str, recipe: &Recipe, case: &str) -> Result<Scenario, Vec<Diagnostic>> {
    let text = format!(
        "claim = \"A token is checked.\"\nbecause = \"It is there.\"\nsource = \"Nowhere\"\n{head}\n\
         [[case]]\nalgorithm = \"{}\"\n{case}\n{}",
        recipe.name,
        match recipe.ownership.kind {
            LockKind::Semaphore => "[workload]\npermits = 2\n",
            LockKind::CountDownLatch => "[workload]\ncount = 2\n",
            LockKind::MultiLock => "[workload]\nlocks = 2\nlocks-at-once = 2\n",
            LockKind::Mutex
            | LockKind::ReadWrite
            | LockKind::Election
            | LockKind::Barrier
            | LockKind::DoubleBarrier => "",
        }
    );
    parse("test", &text, &Catalogue::EVERYTHING)
}

#[test]
fn a_fenced_resource_and_a_recipe_without_a_token_are_a_mistake_in_the_file() {
    const FENCED: &str = "resource = \"fenced\"";
    for recipe in RECIPES {
        let of_file = read(FENCED, recipe, "");
        let of_case = read("", recipe, FENCED);
        if promises_tokens(recipe) {
            assert!(of_file.is_ok() && of_case.is_ok(), "{}", recipe.name);
            continue;
        }
        for (read, line) in [(of_file, 6), (of_case, 7)] {
            let mistakes = read.err().unwrap_or_default();
            assert_eq!(mistakes.len(), 1, "{}: {mistakes:?}", recipe.name);
            let place = mistakes[0].place.as_ref();
            assert_eq!(place.map(|place| place.line), Some(line), "{}", recipe.name);
            let shown = mistakes[0].to_string();
            let named = RECIPES.iter().filter(|other| {
                other.build.service() == recipe.build.service() && promises_tokens(other)
            });
            for other in named {
                assert!(shown.contains(other.name), "{shown}");
            }
        }
        let unfenced = read(FENCED, recipe, "resource = \"unfenced\"");
        assert!(
            unfenced.is_ok(),
            "a case may say otherwise: {}",
            recipe.name
        );
    }
}

#[test]
fn a_recipe_with_tokens_writes_to_a_fenced_resource() {
    // As it is printed, its call never returns.
    let returns = |recipe: &&Recipe| recipe.name != "zk-same-name-polling-printed";
    let all = RECIPES.iter().filter(|recipe| promises_tokens(recipe));
    for recipe in all.filter(returns) {
        let scenario = read("resource = \"fenced\"", recipe, "").unwrap();
        let run = simulate(&scenario.cases[0].plan, 0).run;
        let mut events = run.history.events.iter();
        let wrote =
            events.any(|event| matches!(event.what, EventKind::Effect { accepted: true, .. }));
        assert!(wrote, "{}", recipe.name);
    }
}

//! The comparison with real servers. It is made only if `PICKLOCK_VERIFY` is set, because it needs them installed.

use std::env;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use picklock_verify::real::JARS;
use picklock_verify::{Installed, Plan};

#[test]
fn every_answer_is_that_of_a_real_server() {
    if env::var_os("PICKLOCK_VERIFY").is_none() {
        println!("skipped: set PICKLOCK_VERIFY=1 to compare with a real ZooKeeper");
        return;
    }
    let installed = Installed::find(Path::new(JARS)).unwrap();
    for servers in [1, 3] {
        let plan = Plan {
            servers,
            seed: 0,
            operations: 2_000,
        };
        let stop = AtomicBool::new(false);
        let compared = picklock_verify::zookeeper(&installed, plan, &stop, &|_| ()).unwrap();
        assert_eq!(compared.differences, []);
    }
}

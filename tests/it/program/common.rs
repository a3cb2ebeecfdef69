//! Runs the program and looks at what it does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// A scenario whose only case is not as expected: a waiter's death lets the next one in.
pub const FAILING: &str = r#"
claim = "The death of a waiter does not hand the lock to the one behind it."
because = "A waiter is no holder."
source = "a test"

[service.zookeeper]

[workload]
contenders = 3
arrive = "in-order"
hold = "20s"

[[fault]]
when.waiting = { by = "contender-3" }
inject.expire-session = { target = "contender-2" }

[[case]]
algorithm = "zk-no-recheck"
"#;

/// A scenario whose only fault never fires.
pub const UNDECIDED: &str = r#"
claim = "Nothing happens."
because = "No contender acquires a second time."
source = "a test"

[service.zookeeper]

[workload]
contenders = 3

[[fault]]
when.acquired = { by = "contender-1", nth = 2 }
inject.cut = { target = "contender-1" }

[[case]]
algorithm = "zk-predecessor-watch"
"#;

/// What the program did.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The program with these arguments, not run yet.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(super::PROGRAM);
    command
        .args(arguments)
        .env("COLUMNS", "100")
        // Whatever lies in the folders above.
        .env("PICKLOCK_CONFIG", "")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null());
    command
}

/// Runs the program with these arguments.
pub fn picklock(arguments: &[&str]) -> Done {
    let output = command(arguments).output().expect("the program runs");
    Done {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("output is UTF-8"),
    }
}

/// A folder that goes away with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let place = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("picklock-test-{}-{place}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in it.
    pub fn at(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// A new file in it.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.at(name);
        fs::write(&path, text).expect("a file can be written");
        path
    }

    /// The names of all that is in it.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder can be read");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> = names
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

//! The list: which mistakes there are, and where.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The files of the list, in the order in which they are run and shown.
pub const FILES: &[&str] = &[
    "zookeeper-elections",
    "zookeeper-recipes",
    "redis-recipes",
    "lease-server",
    "etcd",
    "memcached",
    "consul",
    "chubby",
    "nested-sections",
    "multi-lock",
    "checks",
    "zookeeper",
    "redis",
];

/// A mistake: one line of the list.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its name, as in `no-recheck`.
    pub name: String,
    /// The file that it is in, from the root of the repository.
    pub file: String,
    /// The text before it in the file, if `find` is there more than once.
    pub after: Option<String>,
    /// What it replaces.
    pub find: String,
    /// What it puts there.
    pub replace: String,
    /// What it breaks, in words.
    pub breaks: String,
    /// Why it need not be noticed.
    pub survives: Option<String>,
}

impl Mutant {
    /// Whether the library of scenarios has to notice it: a lock of another project has no tests in here.
    pub fn is_of_recipe(&self) -> bool {
        let folders = [
            "src/zookeeper/",
            "src/redis/",
            "src/lease_server/",
            "src/etcd/",
            "src/memcached/",
            "src/consul/",
            "src/chubby/",
            "clients/src/curator",
        ];
        let within = self.file.strip_prefix("algorithms/");
        within.is_some_and(|rest| folders.iter().any(|folder| rest.starts_with(folder)))
    }

    /// The only service that it can be noticed on, if its file says so.
    pub fn service(&self) -> Option<&'static str> {
        let of = |folder: &str| self.file.contains(folder);
        let redis = of("redis/");
        let zookeeper = of("/zookeeper") || of("/curator");
        let lease_server = of("lease_server/");
        let etcd = of("/etcd/");
        let memcached = of("/memcached");
        let consul = of("/consul/");
        let chubby = of("/chubby/");
        let services = [
            (zookeeper, "zookeeper"),
            (redis, "redis"),
            (lease_server, "lease-server"),
            (etcd, "etcd"),
            (memcached, "memcached"),
            (consul, "consul"),
            (chubby, "chubby"),
        ];
        services
            .into_iter()
            .find_map(|(is_it, service)| is_it.then_some(service))
    }

    /// The folder of the crate that it is in.
    pub fn package(&self) -> &str {
        self.file.split("/src/").next().unwrap_or_default()
    }
}

/// What is wrong with the list.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistake(pub String);

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where the repository is that this was built in.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The whole list.
///
/// # Errors
///
/// A file that cannot be read, a key that is missing or not known, or a name that is there twice.
pub fn read(repository: &Path) -> Result<Vec<Mutant>, Mistake> {
    let mut mutants: Vec<Mutant> = Vec::new();
    for name in FILES {
        let path = repository.join(format!("tools/mutants/list/{name}.toml"));
        let said = |what: &dyn fmt::Display| Mistake(format!("{}: {what}", path.display()));
        let text = fs::read_to_string(&path).map_err(|error| said(&error))?;
        for mutant in parse(&text).map_err(|mistake| said(&mistake))? {
            if mutants.iter().any(|other| other.name == mutant.name) {
                let twice = format!("there are two of the name `{}`", mutant.name);
                return Err(said(&twice));
            }
            mutants.push(mutant);
        }
    }
    Ok(mutants)
}

/// The mutants of one file of the list.
///
/// # Errors
///
/// Text that is no TOML, or a key that is missing or not known.
pub fn parse(text: &str) -> Result<Vec<Mutant>, Mistake> {
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| Mistake(error.to_string()))?;
    let rows = table.get("mutant").and_then(Value::as_array);
    let (Some(rows), 1) = (rows, table.len()) else {
        return Err(Mistake(
            "it has [[mutant]], as often as there are, and nothing else".to_owned(),
        ));
    };
    let rows = rows.iter().filter_map(Value::as_table);
    rows.map(mutant).collect()
}

fn mutant(row: &Table) -> Result<Mutant, Mistake> {
    let name = row.get("name").and_then(Value::as_str).unwrap_or_default();
    let known = [
        "name", "file", "after", "find", "replace", "breaks", "survives",
    ];
    if let Some(key) = row.keys().find(|key| !known.contains(&key.as_str())) {
        let known = known.join(", ");
        return Err(Mistake(format!("[{name}] has `{key}`; known are {known}")));
    }
    let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let needed = |key: &str| {
        text(key).ok_or_else(|| Mistake(format!("[{name}] needs `{key}`, and it is a string")))
    };
    Ok(Mutant {
        name: needed("name")?,
        file: needed("file")?,
        after: text("after"),
        find: needed("find")?,
        replace: needed("replace")?,
        breaks: needed("breaks")?,
        survives: text("survives"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "[[mutant]]\nname = 'one'\nfile = 'a/src/b.rs'\nfind = 'x'\nreplace = 'y'\nbreaks = 'all'\n";

    #[test]
    fn a_row_says_where_what_and_why() {
        let mutants = parse(ROW).expect("a list");
        assert_eq!(mutants[0].name, "one");
        assert_eq!(mutants[0].package(), "a");
        assert!(!mutants[0].is_of_recipe());
    }

    #[test]
    fn a_key_that_is_missing_or_not_known_is_a_mistake() {
        let missing = parse("[[mutant]]\nname = 'one'\nfile = 'a'\n").expect_err("no `find`");
        assert_eq!(missing.0, "[one] needs `find`, and it is a string");
        let unknown = parse(&format!("{ROW}kills = 'x'\n")).expect_err("no such key");
        assert!(
            unknown
                .0
                .starts_with("[one] has `kills`; known are name, file"),
            "{unknown}"
        );
    }
}

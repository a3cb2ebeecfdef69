//! Requests in words, as traces and comparisons show them.

use std::fmt;

use super::{Acl, CreateMode, Data, Op, ReadOp, Reconfiguration, Request, Version};

/// A request in words: `create(/locks/a/lock-, 0 bytes, ephemeral, sequential)`.
impl fmt::Display for Request {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.kind().general().name();
        let watched = |watch: bool| if watch { ", watch" } else { "" };
        match self {
            Request::Create(node) => {
                let (path, data, kind) = (node.path(), node.data(), kind(node.mode()));
                let stat = if node.with_stat() { ", stat" } else { "" };
                let acl = node.acl();
                write!(
                    out,
                    "{name}({path}, {}, {kind}{stat}{})",
                    Length(&data),
                    For(&acl)
                )
            }
            Request::Delete { path, version } => {
                write!(out, "{name}({path}{})", Of(*version))
            }
            Request::Exists { path, watch } | Request::GetData { path, watch } => {
                write!(out, "{name}({path}{})", watched(*watch))
            }
            Request::GetChildren {
                path,
                watch,
                with_stat,
            } => {
                let stat = if *with_stat { ", stat" } else { "" };
                write!(out, "{name}({path}{stat}{})", watched(*watch))
            }
            Request::WhoAmI => write!(out, "{name}()"),
            Request::Reconfig(asked) => write!(out, "{name}({})", Lists(asked)),
            Request::SetData {
                path,
                data,
                version,
            } => write!(out, "{name}({path}, {}{})", Length(data), Of(*version)),
            Request::SetAcl { path, acl, version } => {
                write!(out, "{name}({path}{}{})", For(acl), Of(*version))
            }
            Request::Sync { path }
            | Request::GetAcl { path }
            | Request::GetAllChildrenNumber { path }
            | Request::GetEphemerals { prefix: path } => {
                write!(out, "{name}({path})")
            }
            Request::AddWatch { path, recursive } => {
                let recursive = if *recursive { ", recursive" } else { "" };
                write!(out, "{name}({path}{recursive})")
            }
            Request::RemoveWatches { path, side, .. }
            | Request::CheckWatches { path, side, .. } => {
                write!(out, "{name}({path}, {side:?})")
            }
            Request::MultiRead(ops) => write!(out, "{name}({})", Reads(ops)),
            Request::Multi(ops) => {
                write!(out, "{name}(")?;
                for (index, op) in ops.iter().enumerate() {
                    let between = if index == 0 { "" } else { ", " };
                    write!(out, "{between}{}", Part(op))?;
                }
                write!(out, ")")
            }
        }
    }
}

/// How much data there is.
struct Length<'a>(&'a Data);

impl fmt::Display for Length<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.bytes() {
            Some(bytes) => write!(out, "{} bytes", bytes.len()),
            None => out.write_str("null"),
        }
    }
}

/// What is to become of the list of servers.
struct Lists<'a>(&'a Reconfiguration);

impl fmt::Display for Lists<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = self.0;
        let lists = [
            ("joining", &asked.joining),
            ("leaving", &asked.leaving),
            ("members", &asked.members),
        ];
        let mut between = "";
        for (name, list) in lists {
            if let Some(list) = list {
                write!(out, "{between}{name} {list}")?;
                between = ", ";
            }
        }
        Ok(())
    }
}

struct Reads<'a>(&'a [ReadOp]);

impl fmt::Display for Reads<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, op) in self.0.iter().enumerate() {
            let between = if index == 0 { "" } else { ", " };
            let read = match op {
                ReadOp::Data(_) => "get-data",
                ReadOp::Children(_) => "get-children",
            };
            write!(out, "{between}{read}({})", op.path())?;
        }
        Ok(())
    }
}

struct Part<'a>(&'a Op);

impl fmt::Display for Part<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Op::Create {
                path, mode, acl, ..
            } => write!(out, "create({path}, {}{})", kind(*mode), For(acl)),
            Op::Delete { path, version } => write!(out, "delete({path}{})", Of(*version)),
            Op::SetData { path, version, .. } => write!(out, "set-data({path}{})", Of(*version)),
            Op::Check { path, version } => write!(out, "check({path}{})", Of(*version)),
        }
    }
}

struct Of(Option<Version>);

impl fmt::Display for Of {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(out, ", version {version}"),
            None => Ok(()),
        }
    }
}

/// Who may do what, unless every client may do everything.
struct For<'a>(&'a Acl);

impl fmt::Display for For<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_open() {
            return Ok(());
        }
        write!(out, ", for")?;
        self.0.restrictions().iter().try_for_each(|permit| {
            let (permissions, who) = (permit.permissions.0, &permit.who);
            write!(out, " {permissions} {}:{}", who.scheme, who.id)
        })
    }
}

fn kind(mode: CreateMode) -> &'static str {
    match mode {
        CreateMode::Persistent => "persistent",
        CreateMode::PersistentSequential => "persistent, sequential",
        CreateMode::Ephemeral => "ephemeral",
        CreateMode::EphemeralSequential => "ephemeral, sequential",
        CreateMode::Container => "container",
        CreateMode::PersistentWithTtl(_) => "with a time to live",
        CreateMode::PersistentSequentialWithTtl(_) => "with a time to live, sequential",
    }
}

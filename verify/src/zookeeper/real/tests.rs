//! Servers that do not behave: none of these tests needs Java or ZooKeeper.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use super::*;
use crate::zookeeper::ensemble;

/// A program that is called as Java would be.
fn instead_of_java(folder: &Path, script: &str) -> Installed {
    let java = folder.join("java");
    fs::write(&java, format!("#!/bin/sh\n{script}\n")).unwrap();
    let status = std::process::Command::new("chmod")
        .arg("+x")
        .arg(&java)
        .status();
    assert!(status.unwrap().success());
    Installed {
        java,
        jars: Vec::new(),
    }
}

/// The folder of the server, which its log names.
fn folder_in(log: &[String]) -> PathBuf {
    let line = log.iter().find_map(|line| line.strip_prefix("config "));
    let config = PathBuf::from(line.unwrap());
    config.parent().and_then(Path::parent).unwrap().to_owned()
}

#[cfg(unix)]
#[test]
fn a_server_that_does_not_start_is_named_with_its_last_words() {
    let folder = TemporaryFolder::new().unwrap();
    let script = "for last; do :; done; echo config $last; printf 'no \\033memory\\n'; exit 3";
    let installed = instead_of_java(folder.path(), script);
    let stop = AtomicBool::new(false);
    let error = Real::start(&installed, &ensemble(1), &stop).err().unwrap();
    assert!(matches!(&error, VerifyError::NotStarted { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with("server-1 did not start: exit status: 3"),
        "{text}"
    );
    assert_eq!(error.log().last().map(String::as_str), Some("no ?memory"));
    assert!(!folder_in(error.log()).exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_what_was_started() {
    let folder = TemporaryFolder::new().unwrap();
    let pid = folder.path().join("pid");
    let script = format!("echo $$ > {}; sleep 1000", pid.display());
    let installed = instead_of_java(folder.path(), &script);
    let stop = AtomicBool::new(true);
    let error = Real::start(&installed, &ensemble(1), &stop).err().unwrap();
    assert!(matches!(error, VerifyError::Interrupted), "{error}");
    // It may not have come to write its number; if it has, it is gone.
    let pid = fs::read_to_string(&pid).unwrap_or_default();
    let alive = Path::new("/proc").join(pid.trim()).join("exe").exists();
    assert!(pid.is_empty() || !alive);
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for_for_ever() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let request = ConnectRequest::new_session(Duration::from_secs(1));
    let mut socket = Socket::connect(listener.local_addr().unwrap().port(), &request, &[0; 16]);
    let came = socket.receive(Duration::from_millis(5)).unwrap();
    assert_eq!(came, Incoming::Nothing);
    drop(listener);
}

#[test]
fn a_free_port_is_a_closed_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let request = ConnectRequest::new_session(Duration::from_secs(1));
    let mut socket = Socket::connect(port, &request, &[0; 16]);
    assert_eq!(socket.receive(Duration::ZERO).unwrap(), Incoming::Closed);
}

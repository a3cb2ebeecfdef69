//! Files are written whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use picklock_reports::files::{can_write, write_whole};

/// An empty folder for one test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder for tests can be made");
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<_> = entries.flatten().map(name).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_as_a_whole_and_nothing_else_stays() {
    let folder = folder("replaced");
    let file = folder.join("results.json");
    write_whole(&file, b"first, and long").unwrap();
    write_whole(&file, b"second").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"second");
    assert_eq!(names(&folder), ["results.json"]);
}

#[test]
fn a_check_beforehand_leaves_nothing_behind() {
    let folder = folder("checked");
    can_write(&folder.join("results.json")).unwrap();
    assert!(names(&folder).is_empty());
    write_whole(&folder.join("results.json"), b"there").unwrap();
    can_write(&folder.join("results.json")).unwrap();
    assert_eq!(fs::read(folder.join("results.json")).unwrap(), b"there");
}

/// As `--json /dev/stdout` is, before `| jq`: the pipe behind it cannot be opened by a name.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_without_a_name_is_written_to() {
    use std::io::Read;
    use std::os::fd::AsRawFd;

    let (mut reader, writer) = std::io::pipe().unwrap();
    let path = PathBuf::from(format!("/proc/self/fd/{}", writer.as_raw_fd()));
    can_write(&path).unwrap();
    write_whole(&path, b"through").unwrap();
    drop(writer);
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    assert_eq!(read, "through");
}

#[test]
fn a_dash_is_no_name_of_a_file() {
    let error = can_write(Path::new("-")).unwrap_err().to_string();
    assert!(
        error.contains("/dev/stdout") && error.contains("./-"),
        "{error}"
    );
}

#[test]
fn errors_say_where_what_and_what_to_do() {
    let folder = folder("errors");
    fs::write(folder.join("file"), b"").unwrap();
    let message = |path: &str| {
        let path = folder.join(path);
        let error = write_whole(&path, b"x").unwrap_err().to_string();
        assert_eq!(can_write(&path).unwrap_err().to_string(), error);
        error.replace(&folder.display().to_string(), "FOLDER")
    };
    let errors = [
        message("missing/results.json"),
        message("file/results.json"),
        message(""),
    ];
    insta::assert_snapshot!(errors.join("\n"));
    assert_eq!(names(&folder), ["file"]);
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let null = Path::new("/dev/null");
    can_write(null).unwrap();
    write_whole(null, b"gone").unwrap();
    assert!(fs::metadata(null).unwrap().file_type().is_char_device());
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_stays_and_what_it_points_to_is_written() {
    let folder = folder("linked");
    fs::write(folder.join("real.json"), b"old").unwrap();
    let link = folder.join("latest.json");
    std::os::unix::fs::symlink("real.json", &link).unwrap();
    write_whole(&link, b"new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(folder.join("real.json")).unwrap(), b"new");
}

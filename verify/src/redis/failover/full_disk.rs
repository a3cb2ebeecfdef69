//! Disks of real servers that are full.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A folder in the place of the file that all keys are to go to keeps them from going there, or does no longer.
pub(super) fn fill_for_images(home: &Path, is_full: bool) -> io::Result<()> {
    let obstacle = home.join("dump.rdb");
    if is_full {
        fs::create_dir_all(obstacle.join("in the way"))
    } else {
        fs::remove_dir_all(obstacle)
    }
}

/// The next log that is begun goes to a device that is always full.
pub(super) fn fill_for_log(home: &Path) -> io::Result<()> {
    let log = home.join("appendonlydir/temp-appendonly.aof.incr");
    symlink("/dev/full", log)
}

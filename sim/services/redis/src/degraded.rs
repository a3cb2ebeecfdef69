//! What keeps a server from serving.

use picklock_checker::VirtualTime;

use crate::settings::Persistence;

/// What keeps a server from serving.
#[derive(Clone, Debug, Default)]
pub(crate) struct Degraded {
    /// It uses more memory than it may, and evicts nothing.
    pub(crate) memory_is_full: bool,
    /// Nothing can be written to its disk.
    pub(crate) disk_is_full: bool,
    /// What it had to write to its disk could not be written.
    pub(crate) unsaved: bool,
    /// It is a replica without its primary, and is not to serve old keys.
    pub(crate) stale: bool,
    /// Its keys are being read from the disk until then.
    pub(crate) loading: Option<VirtualTime>,
}

impl Degraded {
    pub(crate) fn is_any(&self) -> bool {
        self.memory_is_full || self.unsaved || self.stale || self.loading.is_some()
    }

    /// Why nothing may be written, if what was to be saved could not be.
    pub(crate) fn misconfigured(&self, persistence: &Persistence) -> Option<&'static str> {
        match persistence {
            _ if !self.unsaved => None,
            Persistence::None => None,
            Persistence::Snapshots(_) => Some(
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. \
                 Commands that may modify the data set are disabled, because this instance is configured to report \
                 errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check \
                 the Redis logs for details about the RDB error.",
            ),
            Persistence::Log(_) => {
                Some("MISCONF Errors writing to the AOF file: No space left on device")
            }
        }
    }
}

//! The deletion of our node when an acquire fails.

use std::rc::Rc;

use crate::clients::curator::Curator;
use crate::clients::zookeeper::Path;

/// Step 6. If it is dropped before it is disarmed, as with its acquire, it deletes our node in the background.
pub(crate) struct CleanupGuard {
    client: Curator,
    our_path: Path,
    armed: bool,
}

impl CleanupGuard {
    pub(crate) fn new(client: &Curator, our_path: &Path) -> Self {
        Self {
            client: client.clone(),
            our_path: Rc::clone(our_path),
            armed: true,
        }
    }

    pub(crate) fn disarm(mut self) {
        self.armed = false;
    }

    /// The caller learns of the failure when the node is gone, or when its deletion goes on in the background.
    pub(crate) async fn clean_up(mut self) {
        // The caller gets the first error, not this one.
        let _quietly = self.client.delete_guaranteed(&self.our_path).await;
        self.armed = false;
    }
}

impl Drop for CleanupGuard {
    fn drop(&mut self) {
        if self.armed {
            self.client.delete_in_background(&self.our_path);
        }
    }
}

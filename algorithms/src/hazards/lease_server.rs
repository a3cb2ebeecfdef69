//! Hazards of the locks over the lease server.

use super::Hazard;

hazards! {
    "lease-server/answer-read-late": ["lease-lock-unchecked"] breaks [TimelyLoss] under [Pause];
    "lease-server/same-number": ["lease-lock-by-pid"] breaks [MutualExclusion, OwnReleaseOnly] under [Pause];
}

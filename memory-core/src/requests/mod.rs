//! What a memory is asked for beside questions, and what it returns.

mod counts;
mod forgetting;
mod lists;
mod observing;
mod upkeep;

pub use counts::{PendingWork, Stats};
pub use forgetting::{ForgetPreview, ForgetReply, ForgetRequest, ForgottenRecording};
pub use lists::{EpisodeFilter, EpisodeListPage, EpisodePage, EventPage, FactFilter, GistFilter};
pub use observing::ObserveOutcome;
pub use upkeep::{BackupReply, CheckReport, CompactReply, Exported, IndexSaved, SaveIndex};

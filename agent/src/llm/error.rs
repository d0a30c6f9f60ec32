//! Why a language model gave nothing that can be used.

use std::time::Duration;

/// Why there is no reply of an endpoint, in words for `degraded`. No variant carries what was said, asked or replied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LlmError {
    /// The endpoint failed several times in a row and is left alone for a while.
    #[error("it failed several times and is left alone for {} s more", .0.as_secs().max(1))]
    Open(Duration),
    /// The tokens of this month are used up.
    #[error("the monthly ceiling of {0} tokens is reached")]
    Ceiling(u64),
    /// Too many requests wait already.
    #[error("other requests are waiting for it")]
    Busy,
    /// A question needs the endpoint now.
    #[error("it made way for a question")]
    Yielded,
    /// The time is over.
    #[error("no reply within {:.1} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// No time of the question is left.
    #[error("the question leaves no time for it")]
    NoTime,
    /// No connection, or it was cut.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// Another status than 200.
    #[error("it replied with status {0}")]
    Status(u16),
    /// The reply goes on beyond the ceiling.
    #[error("its reply is larger than {} KiB", .0 >> 10)]
    TooLarge(usize),
    /// The reply is no reply of `/chat/completions`.
    #[error("its reply is not the JSON of a chat completion")]
    Malformed,
    /// The model said nothing.
    #[error("its reply is empty")]
    Empty,
    /// The model did not want to.
    #[error("it refused")]
    Refused,
    /// The reply stopped in the middle.
    #[error("its reply was cut off at the limit of tokens")]
    CutOff,
    /// The reply of the model was unusable twice.
    #[error("its reply was not usable: {0}")]
    Invalid(&'static str),
    /// The request does not fit into the context of the model.
    #[error("the request does not fit into {0} tokens of context")]
    TooLong(u32),
    /// A replay has no reply to this request.
    #[error("the transcript has no reply to this request")]
    NotRecorded,
    /// Engram is stopping.
    #[error("engram is stopping")]
    Stopping,
}

impl LlmError {
    /// Whether the endpoint is at fault, so that it is left alone after several of these.
    pub(super) fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Timeout(_)
                | Self::Unreachable(_)
                | Self::Status(_)
                | Self::TooLarge(_)
                | Self::Malformed
                | Self::Empty
                | Self::Refused
                | Self::CutOff
                | Self::Invalid(_)
        )
    }
}

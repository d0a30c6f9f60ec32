//! Why something that was sent is not taken.

use serde::Serialize;

/// The error codes of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    BadRequest,
    TooLarge,
    Busy,
    Deadline,
    Forbidden,
    StorageFull,
    Internal,
}

/// Why a request, or one item of it, was not served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    pub code: Code,
    /// What to change.
    pub message: String,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, message)
    }
}

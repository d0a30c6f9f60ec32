//! Durable records.

/// Where the store keeps its bytes; a real directory, or one that injects crashes.
pub trait Storage: Send + Sync {}

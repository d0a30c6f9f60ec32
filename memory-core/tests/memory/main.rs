//! The memory as its users see it, on storages that can be stopped, cut off and filled up.

mod support;

mod embeddings;
mod episodes;
mod forget;
mod observe;
mod reading;

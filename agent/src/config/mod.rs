//! The configuration and its layers.

pub mod mqtt;

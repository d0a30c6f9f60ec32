//! The configuration and its layers.

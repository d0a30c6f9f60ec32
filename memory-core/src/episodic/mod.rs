//! How events are grouped in episodes.

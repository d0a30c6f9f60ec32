//! Language models behind a stand-in for an endpoint, without a broker.

// The functions that the tests share are test code too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod answering;
mod background;
mod bench;
mod controlling;
mod encryption;
mod injection;
mod many;
mod misbehaving;

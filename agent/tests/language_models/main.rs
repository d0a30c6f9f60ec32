//! Language models behind a stand-in for an endpoint, without a broker.

mod answering;
mod background;
mod bench;
mod encryption;
mod injection;
mod many;
mod misbehaving;

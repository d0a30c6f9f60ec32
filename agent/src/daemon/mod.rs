//! `engram run`: the parts wired together, supervised, and drained in order.

mod board;
mod signals;
mod systemd;

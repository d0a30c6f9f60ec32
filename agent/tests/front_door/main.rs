//! The front door against a real broker and a real memory.

mod asking;
mod broker;
mod commands;
mod observing;
mod presence;
mod robot;
mod speed;

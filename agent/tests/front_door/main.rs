//! The front door against a real broker and a real memory.

mod access;
mod asking;
mod broker;
mod commands;
mod encryption;
mod observing;
mod pose;
mod presence;
mod robot;
mod speed;

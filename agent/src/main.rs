//! `engram`: the long-term memory of a robot.

fn main() {}

//! Feeds decoders with seeded inputs: mutations of valid ones, and noise.
//!
//! A target is a plain test that calls [`fuzz`]. `cargo test` gives it a bounded number of inputs and at most a few seconds.
//! `tests/fuzz` runs the same targets at length. Input number n of a target is always the same one, so a failure is
//! repeated by its number.
//!
//! | variable | meaning |
//! |---|---|
//! | `ENGRAM_FUZZ_TIMES` | how many times the inputs of a plain test; without a limit of time |
//! | `ENGRAM_FUZZ_ONLY` | the number of the one input to run |
//! | `ENGRAM_FUZZ_REPORT` | a file that each target adds a line to: name, inputs, seconds, panics, most resident memory in MiB, slowest input in ms |

mod generators;
mod random;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

pub use generators::{SplitMix, Xorshift};
pub use random::Random;

/// Longest time of a target in a plain test; an emulator reaches it before the number of its inputs.
const PLAIN: Duration = Duration::from_secs(4);
/// No input takes longer. What is quadratic in the length of an input takes minutes.
const SLOWEST: Duration = Duration::from_secs(20);
/// A target's process may grow by so much.
const MOST_MIB: u64 = 512;
/// A target that panics so often is not run to its end.
const ENOUGH_PANICS: u64 = 10;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name} is no number: {value}")))
}

/// Most resident memory of this process so far, MiB; 0 where the system does not say.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Runs `decode` on `inputs` inputs, each with a generator of its own.
///
/// # Panics
/// If `decode` panics for an input, takes too long for one, or the process grows without bound. The message has the number of
/// the input.
pub fn fuzz(name: &str, inputs: u64, mut decode: impl FnMut(&mut Random)) {
    let times = variable("ENGRAM_FUZZ_TIMES");
    let range = match variable("ENGRAM_FUZZ_ONLY") {
        Some(only) => only..only + 1,
        None => 0..inputs * times.unwrap_or(1),
    };
    let (begin, before) = (Instant::now(), peak_mib());
    let (mut ran, mut panicked, mut slowest) = (0, Vec::new(), (Duration::ZERO, 0));
    for number in range {
        if times.is_none() && begin.elapsed() > PLAIN {
            break;
        }
        let start = Instant::now();
        if catch_unwind(AssertUnwindSafe(|| decode(&mut Random::of_input(name, number)))).is_err() {
            panicked.push(number);
        }
        slowest = slowest.max((start.elapsed(), number));
        ran += 1;
        if panicked.len() as u64 >= ENOUGH_PANICS {
            break;
        }
    }
    let peak = peak_mib();
    report(&format!(
        "{name}\t{ran}\t{:.1}\t{}\t{peak}\t{}\n",
        begin.elapsed().as_secs_f64(),
        panicked.len(),
        slowest.0.as_millis()
    ));
    assert!(
        panicked.is_empty(),
        "{name}: of {ran} inputs these panicked (ENGRAM_FUZZ_ONLY=n repeats one): {panicked:?}"
    );
    assert!(slowest.0 < SLOWEST, "{name}: input {} took {:?}", slowest.1, slowest.0);
    assert!(peak - before < MOST_MIB, "{name}: resident memory rose from {before} to {peak} MiB");
}

fn report(line: &str) {
    let Some(path) = std::env::var_os("ENGRAM_FUZZ_REPORT") else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the report can be written");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "these panicked")]
    fn a_decoder_that_panics_fails_its_target() {
        fuzz("panics", 100, |random| assert!(random.below(10) != 3, "a panic on purpose"));
    }

    #[test]
    fn an_input_is_the_same_every_time_and_others_differ() {
        let input = |number| Random::of_input("same", number).mutated(&[b"a valid input", b"another one"]);
        assert_eq!(input(7), input(7));
        assert!((0..50).map(input).collect::<std::collections::BTreeSet<_>>().len() > 40);
    }
}

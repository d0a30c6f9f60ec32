//! How many kills of which kind, at which moments, and what came of them.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use engram_tests::{Process, SeededRandom};

/// Faults after which a campaign ends: more of them say nothing new.
const ENOUGH_FAULTS: usize = 3;

/// What the program does when it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillMoment {
    Telling,
    Perceiving,
    Forgetting,
    Compacting,
    Saving,
    Restoring,
    Upgrading,
}

impl KillMoment {
    /// With how many of a thousand kills each has.
    const ALL: [(Self, u32); 7] = [
        (Self::Telling, 300),
        (Self::Perceiving, 80),
        (Self::Forgetting, 180),
        (Self::Compacting, 140),
        (Self::Saving, 100),
        (Self::Restoring, 100),
        (Self::Upgrading, 100),
    ];

    /// How many of `all` kills are its own.
    fn share(self, all: u32) -> u32 {
        let mut before = 0;
        for (moment, part) in Self::ALL {
            if moment == self {
                return (before + part) * all / 1000 - before * all / 1000;
            }
            before += part;
        }
        0
    }
}

impl fmt::Display for KillMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Telling => "telling",
            Self::Perceiving => "perceiving",
            Self::Forgetting => "forgetting",
            Self::Compacting => "compacting",
            Self::Saving => "saving the index",
            Self::Restoring => "restoring",
            Self::Upgrading => "upgrading",
        })
    }
}

/// What came of the kills of one memory.
#[derive(Debug, Default)]
pub struct Tally {
    /// Each kill, and whether it hit the operation before its end.
    kills: Vec<(KillMoment, bool)>,
}

impl Tally {
    /// Counts a kill; `inside` if what it was meant for had begun and not ended.
    pub fn killed(&mut self, moment: KillMoment, inside: bool) {
        self.kills.push((moment, inside));
    }

    /// How many kills there were.
    pub fn kills(&self) -> usize {
        self.kills.len()
    }
}

/// The kills of some moments.
pub struct Campaign {
    seed: u64,
    /// One for each kill, in random order.
    moments: Vec<KillMoment>,
}

impl Campaign {
    /// The kills that the environment wants of `moments`.
    ///
    /// # Errors
    /// If a variable is no number.
    pub fn from_environment(moments: &[KillMoment]) -> Result<Self> {
        let number = |name: &str, default: u64| match std::env::var(name) {
            Ok(text) => text.parse().with_context(|| format!("{name}={text} is no number")),
            Err(_) => Ok(default),
        };
        let all = u32::try_from(number("ENGRAM_KILLS", 50)?)?;
        let seed = number("ENGRAM_KILLS_SEED", 50)?;
        let mut moments: Vec<KillMoment> =
            moments.iter().flat_map(|moment| std::iter::repeat_n(*moment, moment.share(all) as usize)).collect();
        let mut random = SeededRandom::seeded(seed);
        for place in (1..moments.len()).rev() {
            moments.swap(place, usize::try_from(random.below(place as u64 + 1))?);
        }
        Ok(Self { seed, moments })
    }

    /// Does them, at most `together` to one memory. `world` makes a memory, kills it at every one of the moments and looks
    /// at what is left.
    ///
    /// # Errors
    /// The faults that were found.
    pub fn run(
        self,
        together: usize,
        mut world: impl FnMut(u64, &[KillMoment], &mut Tally) -> Result<()>,
    ) -> Result<()> {
        let mut faults = Vec::new();
        for (number, moments) in self.moments.chunks(together).enumerate() {
            let seed = self.seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
            let mut tally = Tally::default();
            let done = world(seed, moments, &mut tally);
            let fault = done.as_ref().err().map(|_| tally.kills.last().map_or(moments[0], |(moment, _)| *moment));
            report(&tally, fault)?;
            if let Err(error) = done {
                faults.push(format!(
                    "memory {number} of ENGRAM_KILLS_SEED={}, after {} kills: {error:#}",
                    self.seed,
                    tally.kills()
                ));
            }
            if faults.len() >= ENOUGH_FAULTS {
                break;
            }
        }
        ensure!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n\n"));
        Ok(())
    }
}

/// Adds a line for each moment to the file `ENGRAM_KILLS_REPORT`: name, kills, kills inside, faults.
fn report(tally: &Tally, fault: Option<KillMoment>) -> Result<()> {
    let Some(path) = std::env::var_os("ENGRAM_KILLS_REPORT") else { return Ok(()) };
    let mut lines = String::new();
    for (moment, _) in KillMoment::ALL {
        let kills = tally.kills.iter().filter(|(of, _)| *of == moment).count();
        let inside = tally.kills.iter().filter(|(of, inside)| *of == moment && *inside).count();
        let faults = usize::from(fault == Some(moment));
        if kills + faults > 0 {
            lines += &format!("{moment}\t{kills}\t{inside}\t{faults}\n");
        }
    }
    // One write, so that tests side by side do not mix their lines.
    let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
    file.write_all(lines.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// Lets time go by: the moment of a kill is meant to be random.
pub fn pass(time: Duration) {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::park_timeout(left);
    }
}

/// A random time below `most`.
pub fn time_below(random: &mut SeededRandom, most: Duration) -> Duration {
    let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX).max(1);
    Duration::from_micros(random.below(most))
}

/// A time that is measured as it goes: how long an operation takes on this machine.
#[derive(Debug)]
pub struct Estimate(pub Duration);

impl Estimate {
    /// A moment within the operation, or a little after it.
    pub fn moment(&self, random: &mut SeededRandom) -> Duration {
        time_below(random, self.0 * 5 / 4)
    }

    /// The operation ended after `took`, or was killed earlier.
    pub fn learn(&mut self, took: Option<Duration>) {
        self.0 = match took {
            Some(took) => (self.0 + took) / 2,
            // Not to remain too short for ever.
            None => self.0 * 21 / 20,
        };
    }
}

/// Waits until `begun` says that the operation of a process has begun, lets `delay` go by and kills it. `None` if the process
/// ended before, with success.
///
/// # Errors
/// If it ended with an error, or does not begin.
pub fn kill_after(
    process: &mut Process,
    delay: Duration,
    mut begun: impl FnMut() -> Result<bool>,
) -> Result<Option<Duration>> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while process.ended()?.is_none() && !begun()? {
        if Instant::now() > deadline {
            bail!("it has not begun; it said:\n{}", process.output());
        }
        pass(Duration::from_micros(200));
    }
    let begin = Instant::now();
    let end = begin + delay;
    loop {
        if let Some(status) = process.ended()? {
            if !status.success() {
                return Err(anyhow!("it ended with {status} by itself; it said:\n{}", process.output()));
            }
            return Ok(None);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        pass(left.min(Duration::from_millis(1)));
    }
    process.kill()?;
    Ok(Some(begin.elapsed()))
}

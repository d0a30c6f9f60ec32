//! kill -9 at random moments: of telling, perceiving, forgetting, compacting, saving the index, restoring and upgrading. After
//! every kill nothing acknowledged is lost, nothing forgotten is back, and `check` finds nothing.
//!
//! `ENGRAM_KILLS` is how many in all (50 by default; `tests/kills` does 1,000 and prints a table). `ENGRAM_KILLS_SEED` chooses
//! other moments. A life ends within a quarter of a second after the agent is online; `ENGRAM_LIFE_MS` is for longer ones: an
//! emulated program has answered nothing by then.

mod campaign;
mod ledger;
mod perceiving;
mod restoring;
mod upgrading;
mod world;

use std::time::Duration;

use anyhow::Result;
use campaign::{Campaign, KillMoment};

/// How long a life is at most.
fn longest_life() -> Result<Duration> {
    let ms = std::env::var("ENGRAM_LIFE_MS").map_or(Ok(250), |ms| ms.parse())?;
    Ok(Duration::from_millis(ms))
}

#[test]
fn kills_while_it_is_told_forgets_compacts_and_saves_lose_nothing_and_bring_nothing_back() -> Result<()> {
    let moments = [KillMoment::Telling, KillMoment::Forgetting, KillMoment::Compacting, KillMoment::Saving];
    Campaign::from_environment(&moments)?
        .run(60, |seed, moments, tally| world::run(seed, moments, tally, longest_life()?))
}

#[test]
fn kills_while_it_perceives_lose_no_announced_episode_and_double_none() -> Result<()> {
    Campaign::from_environment(&[KillMoment::Perceiving])?.run(25, perceiving::run)
}

#[test]
fn kills_while_it_restores_leave_the_old_memory_or_the_backup() -> Result<()> {
    Campaign::from_environment(&[KillMoment::Restoring])?.run(25, restoring::run)
}

#[test]
fn kills_while_it_upgrades_lose_nothing_of_an_older_store() -> Result<()> {
    Campaign::from_environment(&[KillMoment::Upgrading])?.run(25, upgrading::run)
}

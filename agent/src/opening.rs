//! Opens the memory that the configuration names. Shared by the daemon and the commands that open the store themselves.

use std::sync::Arc;

use jiff::tz::TimeZone;
use memory_core::store::DirStorage;
use memory_core::{Clock, Memory};

use crate::ceilings::Ceilings;
use crate::config::{Config, Directories};
use crate::exit::{Exit, Failure};
use crate::senses::encoders;

/// The zone in which people's times are read and written.
///
/// # Errors
/// [`Exit::Config`] if there is no such zone.
pub fn zone(config: &Config) -> Result<TimeZone, Failure> {
    match &config.memory.time_zone {
        Some(name) => TimeZone::get(name).map_err(|error| {
            Failure::new(Exit::Config, format!("memory.time_zone `{name}` is not a time zone: {error}"))
        }),
        None => Ok(TimeZone::system()),
    }
}

/// The robot's name: the configured one, else the host name.
///
/// # Errors
/// [`Exit::Config`] if the host name cannot be part of a topic.
pub fn robot(config: &Config) -> Result<String, Failure> {
    if let Some(robot) = &config.robot {
        return Ok(robot.clone());
    }
    let host = gethostname::gethostname().to_string_lossy().into_owned();
    crate::topics::check_name(&host).map_err(|fault| {
        Failure::new(Exit::Config, format!("the host name {host:?} {fault}; set `robot` in the configuration"))
    })?;
    Ok(host)
}

/// Opens the memory, making it if there is none.
///
/// # Errors
/// [`Exit::Store`]; the message says why and what to do.
pub fn memory(config: &Config, clock: Arc<dyn Clock>) -> Result<Memory, Failure> {
    let directory = Directories::from_config(config).memory;
    let index = config.memory.index.options();
    let cache_mib = Ceilings::of_this_machine(&config.memory).cache_mib;
    let memory = Memory::builder()
        .zone(zone(config)?)
        .max_bytes(config.memory.max_mib.map(|mib| mib << 20))
        .cache_bytes(usize::try_from(cache_mib << 20).unwrap_or(usize::MAX))
        .index(index.map_err(|error| Failure::new(Exit::Config, format!("memory.index.signature_bits: {error}")))?)
        .clock(clock)
        .open(directory)
        .map_err(|error| Failure { exit: Exit::Store, error: error.into() })?;
    memory.set_place_spaces(encoders::place_spaces(&config.models));
    memory.set_consolidation(config.memory.consolidation.options());
    memory.set_learning_options(config.learning.options(encoders::same_person(&config.models)));
    Ok(memory)
}

/// Opens a memory that must be there already: asking must not make an empty one.
///
/// # Errors
/// [`Exit::Store`]; the message says why and what to do.
pub fn existing_memory(config: &Config, clock: Arc<dyn Clock>) -> Result<Memory, Failure> {
    let directory = Directories::from_config(config).memory;
    if !DirStorage::new(&directory).exists() {
        let message = format!(
            "there is no memory at {}; start `engram run` once, or name another directory with --data-dir",
            directory.display()
        );
        return Err(Failure::new(Exit::Store, message));
    }
    memory(config, clock)
}

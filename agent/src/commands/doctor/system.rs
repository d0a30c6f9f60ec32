//! The machine: disk, store, clock, metrics port.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::SystemClock;

use super::{Finding, Report};
use crate::config::{self, Config, Directories};
use crate::daemon::free_bytes;
use crate::{opening, output};

/// Number of bytes that the speed test writes.
const PROBE_BYTES: usize = 16 << 20;
/// Number of syncs that are timed; the median counts.
const PROBE_SYNCS: usize = 15;
/// Time of a sync above which a warning is given. A commit waits for one sync.
const SLOW_SYNC: Duration = Duration::from_millis(50);
const LOW_SPACE_BYTES: u64 = 2 << 30;
const NO_SPACE_BYTES: u64 = 256 << 20;

pub fn examine(config: &Config, report: &mut Report) {
    let directories = Directories::from_config(config);
    if let Some(directory) = data_directory(&directories.data, report) {
        space(&directory, report);
        for found in config::beyond_the_disk(config) {
            report.say(Finding::warning("budget", found, "lower it, or move data_dir to a larger disk"));
        }
        speed(&directory, report);
    }
    store(config, &directories, report);
    clock(report);
    metrics_port(config, report);
}

/// The data directory, or where it will be made, if engram may write there.
fn data_directory(data: &Path, report: &mut Report) -> Option<PathBuf> {
    if let Some(found) = config::unusable(data) {
        report.say(Finding::error("data directory", found, "name another directory with data_dir or --data-dir"));
        return None;
    }
    let existing = data.ancestors().find(|path| path.is_dir())?;
    let allowed = rustix::fs::access(existing, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok();
    let shown = data.display();
    if !allowed {
        let user = std::env::var("USER").unwrap_or_else(|_| "the user that runs engram".into());
        report.say(Finding::error(
            "data directory",
            format!("{shown}: {} may not be written", existing.display()),
            format!("sudo install -d -o {user} -m 700 {shown}, or name another directory with --data-dir"),
        ));
        return None;
    }
    let note = if existing == data { "" } else { " (made at the first start)" };
    report.say(Finding::ok("data directory", format!("{shown}{note}")));
    Some(existing.to_path_buf())
}

fn space(directory: &Path, report: &mut Report) {
    match free_bytes(directory) {
        Ok(free) if free < NO_SPACE_BYTES => report.say(Finding::error(
            "disk space",
            format!("{} left", output::bytes(free)),
            "free some, or move data_dir to a larger disk: nothing new is remembered on a full one",
        )),
        Ok(free) if free < LOW_SPACE_BYTES => report.say(Finding::warning(
            "disk space",
            format!("{} left", output::bytes(free)),
            "free some, or set memory.max_mib so that other programs keep theirs",
        )),
        Ok(free) => report.say(Finding::ok("disk space", format!("{} left", output::bytes(free)))),
        Err(error) => report.say(Finding::warning("disk space", format!("unknown: {error}"), "check with df")),
    }
}

fn speed(directory: &Path, report: &mut Report) {
    match measure(directory) {
        Ok((rate, sync)) => {
            let found = format!(
                "{}/s written, {:.1} ms for a commit to be durable",
                output::bytes(rate),
                sync.as_secs_f64() * 1e3
            );
            report.say(if sync > SLOW_SYNC {
                let step = "put data_dir on an SSD, NVMe or eMMC: every acknowledgement waits for this";
                Finding::warning("disk speed", found, step)
            } else {
                Finding::ok("disk speed", found)
            });
        }
        Err(error) => report.say(Finding::error(
            "disk speed",
            format!("a file of {} cannot be written: {error}", output::bytes(PROBE_BYTES as u64)),
            "check space, quota and permissions of the data directory",
        )),
    }
}

/// Bytes a second, and the median time of a small durable write.
fn measure(directory: &Path) -> std::io::Result<(u64, Duration)> {
    let path = directory.join(format!(".engram-doctor-{}", std::process::id()));
    let timed = (|| {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        let block = vec![0x5a_u8; 1 << 20];
        let begin = Instant::now();
        for _ in 0..PROBE_BYTES / block.len() {
            file.write_all(&block)?;
        }
        file.sync_data()?;
        let rate = PROBE_BYTES as f64 / begin.elapsed().as_secs_f64();
        let mut syncs = Vec::with_capacity(PROBE_SYNCS);
        for _ in 0..PROBE_SYNCS {
            file.write_all(&block[..4096])?;
            let begin = Instant::now();
            file.sync_data()?;
            syncs.push(begin.elapsed());
        }
        syncs.sort();
        Ok((rate as u64, syncs[PROBE_SYNCS / 2]))
    })();
    match (timed, std::fs::remove_file(&path)) {
        (Ok(timed), Ok(())) => Ok(timed),
        (Err(error), _) | (Ok(_), Err(error)) => Err(error),
    }
}

fn store(config: &Config, directories: &Directories, report: &mut Report) {
    if !memory_core::store::DirStorage::new(&directories.memory).exists() {
        report.say(Finding::ok("memory", "none yet; it is created at the first start"));
        return;
    }
    match opening::memory(config, Arc::new(SystemClock::new())) {
        Ok(memory) => {
            let stats = memory.stats();
            let size = output::bytes(stats.disk_bytes);
            report.say(Finding::ok("memory", format!("{} episodes, {} events, {size}", stats.episodes, stats.events)));
        }
        Err(failure) => match failure.error.downcast_ref::<memory_core::OpenError>() {
            Some(error) if error.is_in_use() => {
                report.say(Finding::ok("memory", "in use by a running agent"));
            }
            _ => report.say(Finding::error(
                "memory",
                format!("{:#}", failure.error),
                "run `engram check` for the details; the message says what to do",
            )),
        },
    }
}

fn clock(report: &mut Report) {
    let now = jiff::Timestamp::now();
    // No robot that runs this program lives before it was written.
    let written = jiff::Timestamp::constant(1_767_225_600, 0);
    if now < written {
        report.say(Finding::error(
            "clock",
            format!("it is {now}, which cannot be"),
            "set the time (timedatectl set-ntp true, or a real-time clock): memories are filed by it",
        ));
        return;
    }
    let systemd = Path::new("/run/systemd/system").exists();
    let synchronised = Path::new("/run/systemd/timesync/synchronized").exists() || Path::new("/run/chrony").exists();
    if systemd && !synchronised {
        report.say(Finding::warning(
            "clock",
            format!("{now:.0}; nothing says that it is synchronised"),
            "timedatectl set-ntp true: a clock that is set later moves what was remembered before",
        ));
    } else {
        report.say(Finding::ok("clock", format!("{now:.0}")));
    }
}

fn metrics_port(config: &Config, report: &mut Report) {
    let listen = config.metrics.listen;
    if !config.metrics.enabled {
        return;
    }
    if !listen.ip().is_loopback() {
        report.say(Finding::warning(
            "metrics port",
            format!("{listen} is reachable from the network, without authentication"),
            "set metrics.listen to 127.0.0.1, or protect the port",
        ));
    } else if let Err(error) = std::net::TcpListener::bind(listen) {
        report.say(Finding::warning(
            "metrics port",
            format!("{listen}: {error}"),
            "if no engram runs, set metrics.listen to another port",
        ));
    } else {
        report.say(Finding::ok("metrics port", format!("{listen} is free")));
    }
}

//! The board: what it is, how hot it is, what power it has, and whether its devices may be used.

use std::fs::read_to_string;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use super::{Finding, Report};
use crate::ceilings::{Ceilings, Ram};
use crate::config::{Config, ThermalConfig};
use crate::thermal::zones;

const THERMAL: &str = "/sys/class/thermal";
/// Devices that a group opens.
const DEVICES: [(&str, &str, &str); 3] =
    [("/dev", "video", "cameras"), ("/dev/snd", "pcm", "microphones"), ("/dev/dri", "render", "accelerators")];

pub fn examine(config: &Config, report: &mut Report) {
    temperature(&config.thermal, report);
    power(report);
    ceilings(config, report);
    permissions(report);
}

/// Describes the machine, as far as it can be read without privileges.
pub fn describe() -> Value {
    let line = |path: &str| read_to_string(path).ok().map(|text| text.trim_matches(['\0', '\n', ' ']).to_owned());
    let field = |text: &str, name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(value.trim_start_matches([':', '=']).trim().trim_matches('"').to_owned())
    };
    let system = line("/etc/os-release").and_then(|text| field(&text, "PRETTY_NAME"));
    let memory = line("/proc/meminfo").unwrap_or_default();
    let zones: Map<String, Value> =
        zones(Path::new(THERMAL)).into_iter().map(|(name, celsius)| (name, json!(celsius))).collect();
    json!({
        "system": system,
        "kernel": line("/proc/sys/kernel/osrelease"),
        "board": line("/proc/device-tree/model"),
        "jetpack": line("/etc/nv_tegra_release"),
        "processors": std::thread::available_parallelism().map_or(0, usize::from),
        "memory": { "total": field(&memory, "MemTotal"), "available": field(&memory, "MemAvailable") },
        "load": line("/proc/loadavg"),
        "temperatures_c": zones,
        "power_mode": power_mode(),
    })
}

fn temperature(config: &ThermalConfig, report: &mut Report) {
    let zones = zones(&config.zones_dir);
    let Some((name, celsius)) = zones.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        let found = format!("no thermal zone in {}: heat changes nothing", config.zones_dir.display());
        return report.say(Finding::ok("temperature", found));
    };
    let found = format!("{celsius:.0} °C at {name}; fewer pictures are analysed from {:.0} °C on", config.warm_c);
    report.say(if *celsius >= config.warm_c {
        let step = "give it air or a fan, or choose a smaller power mode: the board slows down to cool";
        Finding::warning("temperature", found, step)
    } else {
        Finding::ok("temperature", found)
    });
}

/// `nvpmodel`'s mode; on other boards there is none.
fn power_mode() -> Option<String> {
    let output = Command::new("nvpmodel").arg("-q").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.split_once("Power Mode:")).map(|(_, mode)| mode.trim().to_owned())
}

fn power(report: &mut Report) {
    let Some(mode) = power_mode() else { return };
    let small = ["10W", "7W", "5W"].iter().any(|watts| mode.contains(watts));
    report.say(if small {
        let step = "sudo nvpmodel -m 0 gives the encoders all cores; `nvpmodel -p --verbose` lists the modes";
        Finding::warning("power mode", mode, step)
    } else {
        Finding::ok("power mode", mode)
    });
}

/// Returns the ceilings for this machine's memory.
fn ceilings(config: &Config, report: &mut Report) {
    let Some(ram) = Ram::of_this_machine() else { return };
    let Ceilings { cache_mib, program_mib } = Ceilings::new(&config.memory, Some(ram));
    let Ram { total_mib, zram_mib } = ram;
    let found = format!(
        "{total_mib} MiB and {zram_mib} MiB of zram: {cache_mib} MiB for the store's pages, {program_mib} MiB for the program"
    );
    report.say(if program_mib > total_mib + zram_mib / 2 {
        Finding::warning(
            "memory ceilings",
            found,
            "lower memory.ceiling_mib, or remove it: the machine has less memory",
        )
    } else {
        Finding::ok("memory ceilings", found)
    });
}

/// Checks whether this user may open the devices that exist.
fn permissions(report: &mut Report) {
    for (directory, prefix, what) in DEVICES {
        let Ok(entries) = std::fs::read_dir(directory) else { continue };
        let of_kind = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
        let devices: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(|path| of_kind(path)).collect();
        if devices.is_empty() {
            continue;
        }
        let access = rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK;
        let closed: Vec<String> = devices
            .iter()
            .filter(|path| rustix::fs::access(path.as_path(), access).is_err())
            .map(|path| path.display().to_string())
            .collect();
        report.say(if closed.is_empty() {
            Finding::ok(what, format!("{} in {directory} may be used", devices.len()))
        } else {
            Finding::warning(
                what,
                format!("{} may not be opened by this user", closed.join(", ")),
                "sudo usermod -aG video,audio,render $USER and log in again; the service's user is in these groups",
            )
        });
    }
}

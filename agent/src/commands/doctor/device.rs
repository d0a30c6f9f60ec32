//! The board: what it is, how hot it is, what power it has, and whether its devices may be used.

use std::fs::read_to_string;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use super::{Finding, Report};

/// Boards of this kind begin to slow down a few degrees above.
const HOT_C: f64 = 85.0;
/// Zones of a board that are not there report nonsense.
const SENSIBLE_C: std::ops::Range<f64> = -40.0..150.0;
const THERMAL: &str = "/sys/class/thermal";
/// Devices that a group opens.
const DEVICES: [(&str, &str, &str); 3] =
    [("/dev", "video", "cameras"), ("/dev/snd", "pcm", "microphones"), ("/dev/dri", "render", "accelerators")];

pub fn examine(report: &mut Report) {
    temperature(Path::new(THERMAL), report);
    power(report);
    permissions(report);
}

/// What the machine is, as far as it can be read without rights.
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

/// Every thermal zone that reports something sensible, in °C.
fn zones(directory: &Path) -> Vec<(String, f64)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut zones: Vec<(String, f64)> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("thermal_zone"))
        .filter_map(|entry| {
            let read = |name: &str| read_to_string(entry.path().join(name)).ok().map(|text| text.trim().to_owned());
            let celsius = read("temp")?.parse::<f64>().ok()? / 1000.0;
            Some((read("type")?, celsius))
        })
        .filter(|(_, celsius)| SENSIBLE_C.contains(celsius))
        .collect();
    zones.sort_by(|a, b| a.0.cmp(&b.0));
    zones
}

fn temperature(directory: &Path, report: &mut Report) {
    let zones = zones(directory);
    let Some((name, celsius)) = zones.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    let found = format!("{celsius:.0} °C at {name}");
    report.say(if *celsius >= HOT_C {
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

/// Whether the devices that are there may be opened by whoever runs this.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_that_report_nonsense_are_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        for (zone, kind, temp) in [("0", "cpu-thermal", "48500\n"), ("1", "gpu-thermal", "-256000"), ("2", "soc", "x")]
        {
            let path = directory.path().join(format!("thermal_zone{zone}"));
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("type"), kind).unwrap();
            std::fs::write(path.join("temp"), temp).unwrap();
        }
        std::fs::create_dir(directory.path().join("cooling_device0")).unwrap();
        assert_eq!(zones(directory.path()), [("cpu-thermal".to_owned(), 48.5)]);
    }
}

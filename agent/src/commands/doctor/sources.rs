//! GStreamer, the configured sources, and the permissions they need.

use std::path::Path;
use std::time::Duration;

use drivers::capture::{SourceKind, plugins_report, probe};

use super::{Finding, Report};
use crate::config::Config;
use crate::senses::source_spec;

pub fn examine(config: &Config, patience: Duration, report: &mut Report) {
    if !plugins(config, report) {
        return;
    }
    if config.sources.is_empty() {
        report.say(Finding::ok("sources", "none configured: engram only remembers what it is told"));
    }
    for (name, source) in &config.sources {
        let check = format!("source {name}");
        if !source.enabled {
            report.say(Finding::ok(check, "disabled"));
            continue;
        }
        let spec = match source_spec(name, source) {
            Ok(spec) => spec,
            Err(message) => {
                report.say(Finding::error(check, message, format!("correct sources.{name}.uri")));
                continue;
            }
        };
        if let Some(finding) = permission(&check, &spec.kind) {
            report.say(finding);
            continue;
        }
        let probed = probe(&spec, patience);
        if !probed.delivers() {
            let reason = probed.error.unwrap_or_else(|| "nothing came".to_owned());
            let step = "the message says what to do; an engram that runs holds its devices, stop it first";
            report.say(Finding::error(check, reason, step));
            continue;
        }
        let mut parts = Vec::new();
        if let (Some((width, height)), Some(after)) = (probed.picture, probed.first_picture) {
            parts.push(format!("picture {width}x{height} after {:.1} s", after.as_secs_f64()));
        }
        if let (Some(level), Some(after)) = (probed.sound_level_db, probed.first_sound) {
            parts.push(format!("sound at {level:.0} dB after {:.1} s", after.as_secs_f64()));
        }
        report.say(match probed.error {
            None => Finding::ok(check, parts.join(", ")),
            Some(error) => {
                parts.push(error);
                Finding::warning(check, parts.join(", "), "it delivers; read the message if something is missing")
            }
        });
    }
}

/// Whether GStreamer starts at all.
fn plugins(config: &Config, report: &mut Report) -> bool {
    let elements = match plugins_report() {
        Ok(elements) => elements,
        Err(error) => {
            let step = "sudo apt install gstreamer1.0-plugins-base gstreamer1.0-plugins-good";
            report.say(Finding::error("GStreamer", error.to_string(), step));
            return false;
        }
    };
    let uses_argus = config.sources.values().any(|source| source.uri.starts_with("argus"));
    let mut packages: Vec<&str> = Vec::new();
    let mut missing = Vec::new();
    for element in elements.iter().filter(|element| !element.present) {
        // Exists only on a Jetson; elsewhere nobody can install it.
        if element.package.starts_with("nvidia") && !uses_argus {
            continue;
        }
        missing.push(format!("{} ({})", element.element, element.needed_for));
        if !packages.contains(&element.package) {
            packages.push(element.package);
        }
    }
    if missing.is_empty() {
        report.say(Finding::ok("GStreamer", format!("{} elements present", elements.len())));
    } else {
        let step = format!("sudo apt install {}", packages.join(" "));
        report.say(Finding::warning("GStreamer", format!("missing: {}", missing.join(", ")), step));
    }
    true
}

/// A device that is there and may not be used, before GStreamer says so less clearly.
fn permission(check: &str, kind: &SourceKind) -> Option<Finding> {
    let (device, group) = match kind {
        SourceKind::V4l2 { device, .. } => (device.as_path(), "video"),
        SourceKind::Alsa { .. } => (Path::new("/dev/snd"), "audio"),
        _ => return None,
    };
    if !device.exists() {
        let others: Vec<String> = devices("video");
        let hint = match (group, others.is_empty()) {
            ("video", false) => format!("cameras here: {}", others.join(", ")),
            _ => "plug it in, or correct the uri".to_owned(),
        };
        return Some(Finding::error(check, format!("{} is not there", device.display()), hint));
    }
    let access = rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK;
    if device.is_dir() || rustix::fs::access(device, access).is_ok() {
        return None;
    }
    Some(Finding::error(
        check,
        format!("{} may not be used", device.display()),
        format!("sudo usermod -aG {group} $USER, then log in again (the service's user is in it already)"),
    ))
}

fn devices(prefix: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir("/dev") else { return Vec::new() };
    let mut found: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)))
        .map(|path| path.display().to_string())
        .collect();
    found.sort();
    found
}

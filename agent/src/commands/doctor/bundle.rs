//! `engram doctor --report`: one readable file for support, without secrets and without anything from the memory.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Finding, device};
use crate::config::{self, ConfigError, Directories, Loaded};

const HIDDEN: &str = "<hidden>";
/// Number of the journal's warnings that are included.
const LOG_LINES: &str = "300";
/// Maximum size of a health report, in bytes. Usual ones have a few KiB.
const MAX_HEALTH_BYTES: u64 = 1 << 20;
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of files of the data directory that are listed one by one; the others are summed up.
const MAX_FILES: usize = 200;
/// Minimum length of a secret that is hidden. A shorter one is a word that occurs everywhere.
const MIN_SECRET_CHARS: usize = 4;

/// Collects the report about this machine's Engram. `loaded` is the configuration, or why it cannot be used.
pub fn bundle(loaded: &Result<Loaded, ConfigError>, findings: &[Finding]) -> Value {
    let mut bundle = json!({
        "engram": crate::build_info::long_version(),
        "made": jiff::Timestamp::now().to_string(),
        "machine": device::describe(),
        "findings": findings,
        "log": log(),
    });
    match loaded {
        Ok(loaded) => {
            bundle["configuration"] = config::origins_json(loaded);
            bundle["files"] = files(&Directories::from_config(&loaded.config).data);
            bundle["health"] = health(&loaded.config.metrics);
            hide(&mut bundle, &config::secrets(&loaded.config));
        }
        Err(error) => bundle["configuration"] = json!({ "problems": error.to_string() }),
    }
    bundle
}

/// Writes it to a new file that only its owner can read.
///
/// # Errors
/// What the system says; a file that is there is not replaced.
pub fn write(path: &Path, bundle: &Value) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    serde_json::to_writer_pretty(&mut file, bundle)?;
    file.write_all(b"\n")?;
    file.sync_all()
}

/// Wherever a secret stands, also within a message.
fn hide(value: &mut Value, secrets: &[String]) {
    match value {
        Value::String(text) => {
            for secret in secrets.iter().filter(|secret| secret.len() >= MIN_SECRET_CHARS) {
                if text.contains(secret.as_str()) {
                    *text = text.replace(secret.as_str(), HIDDEN);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, secrets)),
        Value::Object(entries) => entries.values_mut().for_each(|item| hide(item, secrets)),
        _ => {}
    }
}

/// Names and sizes of what lies in the data directory; recordings are counted, not named.
fn files(data: &Path) -> Value {
    fn walk(directory: &Path, data: &Path, listed: &mut Vec<Value>, others: &mut (u64, u64)) {
        let Ok(entries) = std::fs::read_dir(directory) else { return };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::path);
        for entry in entries {
            let path = entry.path();
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                walk(&path, data, listed, others);
            } else if listed.len() < MAX_FILES && path.extension().is_none_or(|extension| extension != "mkv") {
                let name = path.strip_prefix(data).unwrap_or(&path).display().to_string();
                listed.push(json!({ "file": name, "bytes": metadata.len() }));
            } else {
                others.0 += 1;
                others.1 += metadata.len();
            }
        }
    }
    let (mut listed, mut others) = (Vec::new(), (0, 0));
    walk(data, data, &mut listed, &mut others);
    json!({ "directory": data, "listed": listed, "others": { "count": others.0, "bytes": others.1 } })
}

/// Reads the health of a running agent, if it has a metrics port.
fn health(metrics: &config::MetricsConfig) -> Value {
    if !metrics.enabled {
        return json!({ "absent": "metrics.enabled is false" });
    }
    let asked = || -> std::io::Result<Value> {
        let mut stream = TcpStream::connect_timeout(&metrics.listen, HEALTH_TIMEOUT)?;
        stream.set_read_timeout(Some(HEALTH_TIMEOUT))?;
        stream.write_all(b"GET /health HTTP/1.0\r\nhost: localhost\r\n\r\n")?;
        let mut reply = String::new();
        stream.take(MAX_HEALTH_BYTES).read_to_string(&mut reply)?;
        let body = reply.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        Ok(serde_json::from_str(body)?)
    };
    asked().unwrap_or_else(|error| json!({ "absent": format!("{}: {error}", metrics.listen) }))
}

/// The warnings and errors of the service. Lesser messages may quote what is remembered.
fn log() -> Value {
    let read = Command::new("journalctl")
        .args([
            "--unit",
            "engram",
            "--priority",
            "warning",
            "--lines",
            LOG_LINES,
            "--no-pager",
            "--output",
            "short-iso",
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match read {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>().into()
        }
        Ok(output) => json!({ "absent": format!("journalctl ended with {}", output.status) }),
        Err(error) => json!({ "absent": format!("journalctl: {error}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FlagValue, LayerSources};

    #[test]
    fn no_secret_of_the_configuration_is_in_the_bundle_also_where_a_finding_quotes_it() {
        let directory = tempfile::tempdir().unwrap();
        let password = directory.path().join("password");
        std::fs::write(&password, "from-a-file\n").unwrap();
        std::fs::create_dir_all(directory.path().join("data/media/eye")).unwrap();
        std::fs::write(directory.path().join("data/media/eye/1.mkv"), b"1234").unwrap();
        let flag = |key: &str, value: &str| (key.to_owned(), FlagValue::Loose(value.to_owned()), "--set".to_owned());
        let layers = LayerSources {
            flags: vec![
                flag("data_dir", &directory.path().join("data").display().to_string()),
                flag("metrics.enabled", "false"),
                flag("mqtt.username", "robot"),
                flag("mqtt.password_file", &password.display().to_string()),
                flag("recording.server.token", "a-token-of-16-characters"),
                flag("sources.door.uri", "rtsp://cam:pa55word@host/stream"),
            ],
            ..LayerSources::default()
        };
        let finding = Finding::error("source door", "rtsp://cam:pa55word@host/stream refuses from-a-file", "look");
        let bundle = bundle(&config::load(&layers), &[finding]);
        let text = bundle.to_string();
        for secret in ["pa55word", "from-a-file", "a-token-of-16"] {
            assert!(!text.contains(secret), "{secret} is in {text}");
        }
        assert!(text.contains("source door") && text.contains("rtsp://cam:"), "{text}");
        assert_eq!(bundle["files"]["others"], json!({ "count": 1, "bytes": 4 }));

        let file = directory.path().join("report.json");
        write(&file, &bundle).unwrap();
        assert_eq!(write(&file, &bundle).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    }
}

use drivers::models::{Availability, ModelEntry, Profile, Role, Source};
use serde_json::{Value, json};

use super::{installed, runtime_files};
use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure};
use crate::output::{Output, bytes};

/// Every role with what fills it or would.
pub fn run(config: &ModelsConfig, output: Output) -> Result<Exit, Failure> {
    let models = installed(config)?;
    let mut rows = vec![runtime(&models)];
    for role in Role::ALL {
        let entry = models.catalogue().model(role);
        let disabled = config.disabled.iter().any(|name| name == role.name());
        let (state, detail) = match (entry, disabled) {
            (_, true) => ("disabled", "by models.disabled".to_owned()),
            (None, _) => ("empty", "no model fills this role; engram models add brings one".to_owned()),
            (Some(_), _) => match models.model(role) {
                Availability::Found(_) => ("installed", String::new()),
                Availability::Absent(reason) => ("absent", reason),
                Availability::Damaged(reason) => ("damaged", reason),
            },
        };
        rows.push(row(role, state, &detail, entry));
        for other in models.catalogue().alternatives.iter().filter(|other| other.role == role) {
            if entry.is_some_and(|entry| entry.name == other.name) {
                continue;
            }
            rows.push(row(
                role,
                "choice",
                "engram models pull --profile puts it in the place of the other",
                Some(other),
            ));
        }
    }
    if output.json {
        output.json(&json!({ "directories": models.directories(), "models": rows }));
        return Ok(Exit::Ok);
    }
    for row in &rows {
        let text = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
        let size = row["bytes"].as_u64().filter(|size| *size > 0).map(bytes).unwrap_or_default();
        let profiles: Vec<&str> = row["profiles"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let unverified = if row["unverified"] == true { ", unverified" } else { "" };
        output.text(format!(
            "{:<21} {:<10} {:<22} {:<13} {:<10} {}{unverified}",
            text("role"),
            text("state"),
            text("model"),
            profiles.join("+"),
            size,
            text("licence")
        ));
        if matches!(row["state"].as_str(), Some("damaged" | "disabled")) {
            output.text(format!("{:<21} {}", "", text("detail")));
        }
        for file in row["sources"].as_array().into_iter().flatten() {
            let part = |key: &str| file[key].as_str().unwrap_or_default().to_owned();
            output.text(format!("{:<21} {} from {}", "", part("file"), part("from")));
        }
    }
    let absent = rows.iter().any(|row| row["state"] == "absent");
    let directories: Vec<String> = models.directories().iter().map(|path| path.display().to_string()).collect();
    output.text(format!("\nlooked for in {}", directories.join(" and ")));
    if absent {
        output.text("engram models pull brings what the default profile lacks; engram models pull ROLE any other");
    }
    if rows.iter().any(|row| row["state"] == "choice") {
        output.text("engram models pull --profile good brings larger models; engram models remove ROLE goes back to the default");
    }
    Ok(Exit::Ok)
}

/// What fills a role, or could.
fn row(role: Role, state: &str, detail: &str, entry: Option<&ModelEntry>) -> Value {
    let size: u64 = entry.iter().flat_map(|entry| &entry.files).map(|file| file.bytes).sum();
    json!({
        "role": role.name(), "state": state, "detail": detail,
        "model": entry.map(|entry| entry.name.clone()), "licence": entry.map(|entry| entry.licence.clone()),
        "space": entry.and_then(|entry| entry.space.clone()),
        "default": entry.map(|entry| entry.profiles.contains(&Profile::Default)),
        "profiles": entry.map(|entry| entry.profiles.iter().map(|profile| profile.name()).collect::<Vec<_>>()),
        "unverified": entry.map(|entry| entry.unverified),
        "bytes": size,
        "files": entry.map(|entry| entry.files.iter().map(|file| file.file.clone()).collect::<Vec<_>>()),
        "sources": entry.map(|entry| {
            entry.files.iter().map(|file| origins(&file.file, file.bytes, &file.sources)).collect::<Vec<_>>()
        }),
    })
}

/// A file with where it would come from: the sources in the order in which they are tried.
fn origins(file: &str, bytes: u64, sources: &[Source]) -> Value {
    let names: Vec<String> = sources.iter().map(Source::name).collect();
    let from = if names.is_empty() { "nowhere but a mirror".to_owned() } else { names.join(", or ") };
    json!({ "file": file, "bytes": bytes, "from": from })
}

fn runtime(models: &drivers::models::InstalledModels) -> Value {
    let (state, detail) = match models.runtime_library() {
        Availability::Found(library) => ("installed", library.path.display().to_string()),
        Availability::Absent(reason) => ("absent", reason),
        Availability::Damaged(reason) => ("damaged", reason),
    };
    let entry = models.catalogue().onnxruntime.as_ref();
    json!({
        "role": "runtime", "state": state, "detail": detail,
        "model": entry.map(|entry| format!("ONNX Runtime {}", entry.version)),
        "licence": entry.map(|entry| entry.licence.clone()),
        "sources": runtime_files(models).iter()
            .map(|one| origins(one.pinned.file, one.pinned.bytes, one.pinned.sources)).collect::<Vec<_>>(),
        "bytes": runtime_files(models).iter().map(|one| one.pinned.bytes).sum::<u64>(),
    })
}

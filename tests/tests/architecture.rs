//! The rules of the house that a compiler does not hold: which way dependencies point, and where `unsafe` may be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engram_tests::{repository, run_to_end};

const CRATES: [&str; 4] = ["memory-core", "drivers", "agent", "tests"];

/// Everything that `package` is built from, by name.
fn dependencies(package: &str) -> Result<Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let ended = run_to_end(
        Command::new(cargo)
            .args(["tree", "--locked", "--offline", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
            .args(["--package", package])
            .current_dir(repository()),
        Duration::from_secs(60),
    )?;
    ensure!(ended.code == Some(0), "cargo tree failed: {}", ended.stderr);
    let names = ended.stdout.lines().filter_map(|line| line.split_whitespace().next());
    Ok(names.filter(|name| *name != package).map(str::to_owned).collect())
}

fn assert_free_of(package: &str, forbidden: &[&str]) -> Result<()> {
    let names = dependencies(package)?;
    assert!(names.len() > 3, "cargo tree shows no dependencies of {package}: this check sees nothing");
    let found: Vec<_> = names
        .iter()
        .filter(|name| forbidden.iter().any(|bad| *name == bad || name.starts_with(&format!("{bad}-"))))
        .collect();
    assert!(found.is_empty(), "{package} must not depend on {found:?}");
    Ok(())
}

#[test]
fn memory_core_knows_no_runtime_no_media_no_network_and_no_model() -> Result<()> {
    let forbidden =
        ["drivers", "agent", "tokio", "gstreamer", "ort", "libloading", "tokenizers", "rumqttc", "axum", "rustls"];
    assert_free_of("memory-core", &forbidden)
}

#[test]
fn drivers_know_no_program_and_no_broker() -> Result<()> {
    assert_free_of("drivers", &["agent", "rumqttc", "axum", "clap"])
}

/// The stand-ins for NVIDIA's libraries are full of `unsafe`, and for tests alone.
#[test]
fn the_program_is_made_of_no_stand_in() -> Result<()> {
    for package in ["drivers", "agent"] {
        assert_free_of(package, &["fakes", "fake"])?;
    }
    Ok(())
}

#[test]
fn the_check_sees_what_is_there() -> Result<()> {
    let names = dependencies("agent")?;
    for wanted in ["memory-core", "drivers", "tokio", "gstreamer", "ort"] {
        assert!(names.iter().any(|name| name == wanted), "agent depends on {wanted}, and the check does not see it");
    }
    Ok(())
}

#[test]
fn every_crate_takes_the_shared_lints() -> Result<()> {
    for name in CRATES {
        let path = repository().join(name).join("Cargo.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: toml::Table = text.parse()?;
        let shared = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
        assert_eq!(shared, Some(true), "{name}/Cargo.toml lacks `[lints] workspace = true`");
    }
    let text = fs::read_to_string(repository().join("Cargo.toml"))?;
    let workspace: toml::Table = text.parse()?;
    let level = &workspace["workspace"]["lints"]["rust"]["unsafe_code"];
    assert_eq!(level.as_str(), Some("deny"), "unsafe code is denied in the whole workspace");
    Ok(())
}

#[test]
fn unsafe_code_is_allowed_in_one_module_of_drivers() -> Result<()> {
    let mut allowing = Vec::new();
    let mut seen = 0;
    for name in CRATES {
        for path in sources(&repository().join(name))? {
            seen += 1;
            let text = fs::read_to_string(&path)?;
            // Written in two parts, so that this file is not one of those it looks for.
            if text.contains(concat!("allow(unsafe", "_code")) || text.contains(concat!("expect(unsafe", "_code")) {
                allowing.push(path.strip_prefix(repository())?.to_owned());
            }
        }
    }
    assert!(seen > 30, "only {seen} source files were looked at");
    assert_eq!(allowing, [Path::new("drivers/src/encoders/ffi/mod.rs")], "`unsafe` belongs in this module");
    Ok(())
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        // Peers are another workspace. Stand-ins for foreign libraries are called through C++ tables and made of `unsafe`;
        // that the program depends on none of them is checked above.
        let apart = ["target", "peers", "fakes"].iter().any(|name| path.ends_with(name));
        if path.is_dir() && !apart {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

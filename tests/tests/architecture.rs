//! The rules of the house that a compiler does not hold: which way dependencies point, and where `unsafe` may be.

use std::collections::{BTreeMap, BTreeSet};
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

/// A room is a folder or a file directly under `src`; `crate::a::b` leads to the room `a`.
#[test]
fn no_rooms_of_a_crate_depend_on_each_other_in_a_circle() -> Result<()> {
    for (name, fewest) in [("memory-core", 20), ("drivers", 6), ("agent", 20)] {
        let mut rooms = Rooms::read(&repository().join(name).join("src"))?;
        assert!(rooms.leads_to.len() >= fewest, "{name} has only {:?}: this check sees nothing", rooms.leads_to.keys());
        let circle = rooms.peel();
        assert!(circle.is_empty(), "{name}: these rooms depend on each other in a circle: {circle:#?}");
    }
    Ok(())
}

#[test]
fn a_circle_is_seen_through_braces_and_re_exports() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let write = |path: &str, text: &str| -> Result<()> {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
        Ok(fs::write(path, text)?)
    };
    write("lib.rs", "mod high;\nmod low;\nmod apart;\npub use high::{Other, Thing};\n")?;
    write("high/mod.rs", "use std::fmt;\nuse crate::{\n    low::Base,\n};\npub struct Thing(Base);\n")?;
    write("apart.rs", "use crate::low::Base;\n")?;
    write("low.rs", "//! See crate::high.\npub struct Base;\n#[cfg(test)]\nmod tests {\n    use crate::Thing;\n}\n")?;
    assert!(Rooms::read(folder.path())?.peel().is_empty(), "comments and tests are no dependency");
    write("low.rs", "use crate::Thing;\npub struct Base;\n")?;
    let circle = Rooms::read(folder.path())?.peel();
    assert_eq!(circle.keys().collect::<Vec<_>>(), ["high", "low"]);
    Ok(())
}

/// Which rooms each room of a crate uses.
struct Rooms {
    leads_to: BTreeMap<String, BTreeSet<String>>,
}

impl Rooms {
    fn read(src: &Path) -> Result<Self> {
        let mut texts: Vec<(String, String)> = Vec::new();
        let mut root = String::new();
        for path in sources(src)? {
            let inside = path.strip_prefix(src)?;
            let first = inside.iter().next().context("a file has a name")?;
            let room = Path::new(first).file_stem().context("a room has a name")?.to_string_lossy().into_owned();
            let text = without_comments_and_tests(&fs::read_to_string(&path)?);
            let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match room.as_str() {
                "lib" => root = text,
                "main" => {}
                _ if file == "tests" || file.ends_with("_tests") || inside.iter().any(|part| part == "tests") => {}
                _ => texts.push((room, text)),
            }
        }
        let mut leads_to: BTreeMap<String, BTreeSet<String>> =
            texts.iter().map(|(room, _)| (room.clone(), BTreeSet::new())).collect();
        // `pub use room::{A, B};` in lib.rs: `crate::A` leads to that room.
        let mut exported = BTreeMap::new();
        for line in root.split("pub use ").skip(1) {
            let line = line.split(';').next().unwrap_or_default();
            let room = line.split("::").next().unwrap_or_default().trim();
            if leads_to.contains_key(room) {
                let names = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty());
                exported.extend(names.skip(1).map(|name| (name.to_owned(), room.to_owned())));
            }
        }
        for (room, text) in &texts {
            for name in named_after_crate(text) {
                let target = if leads_to.contains_key(&name) { Some(name) } else { exported.get(&name).cloned() };
                if let (Some(target), Some(used)) = (target, leads_to.get_mut(room))
                    && target != *room
                {
                    used.insert(target);
                }
            }
        }
        Ok(Self { leads_to })
    }

    /// Takes away what uses nothing that is left, and what nothing that is left uses; returns what stays: circles.
    fn peel(&mut self) -> BTreeMap<String, BTreeSet<String>> {
        let mut left = self.leads_to.clone();
        loop {
            let used: BTreeSet<String> = left.values().flatten().cloned().collect();
            let before = left.len();
            left.retain(|room, uses| !uses.is_empty() && used.contains(room));
            let there: BTreeSet<String> = left.keys().cloned().collect();
            left.values_mut().for_each(|uses| uses.retain(|room| there.contains(room)));
            if left.len() == before && left.values().all(|uses| !uses.is_empty()) {
                return left;
            }
        }
    }
}

fn without_comments_and_tests(text: &str) -> String {
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| line.to_owned() + "\n").collect()
}

/// The first names behind `crate::`, those in braces too.
fn named_after_crate(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        if !rest.starts_with('{') {
            names.insert(name(rest));
            continue;
        }
        let mut depth = 0_i32;
        let mut at_start = false;
        for (at, c) in rest.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            if depth == 1 && matches!(c, '{' | ',') {
                at_start = true;
            } else if at_start && (c.is_alphanumeric() || c == '_') {
                names.insert(name(&rest[at..]));
                at_start = false;
            }
        }
    }
    names
}

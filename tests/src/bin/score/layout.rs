//! Where a benchmark keeps its parts, whatever its splits are called.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use engram_tests::shared;

/// How far above the given folder a scorer may lie: a conversation, its split, the benchmark.
const LEVELS: usize = 3;

/// The benchmark's `score.py`: in `dir`, above it, or in the shared folder's `name`.
pub fn scorer(dir: &Path, name: &str) -> Result<PathBuf> {
    let above = dir.ancestors().take(LEVELS).map(|folder| folder.join("score.py")).find(|path| path.is_file());
    match above.or_else(|| shared(&format!("bench/{name}/score.py"))) {
        Some(path) => Ok(path),
        None => bail!("no score.py in {} or the {} folders above it", dir.display(), LEVELS - 1),
    }
}

/// `dir` itself, its folders or their folders that hold all of `files`, sorted; the nearest level wins.
pub fn folders_with(dir: &Path, files: &[&str]) -> Result<Vec<PathBuf>> {
    let dir = dir.canonicalize().with_context(|| format!("{} is not there", dir.display()))?;
    ensure!(dir.is_dir(), "{} is not a folder", dir.display());
    let mut level = vec![dir.clone()];
    for _ in 0..LEVELS {
        let found: Vec<_> =
            level.iter().filter(|folder| files.iter().all(|file| folder.join(file).is_file())).cloned().collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let mut below = Vec::new();
        for folder in &level {
            below.extend(folders(folder)?);
        }
        level = below;
    }
    bail!("no folder with {} in {}", files.join(" and "), dir.display())
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in folder.read_dir().with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The last part of a path.
pub fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

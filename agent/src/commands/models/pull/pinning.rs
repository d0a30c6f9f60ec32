//! Puts a pulled model into use: it proves itself first, and is pinned where the catalogue alone would not choose it.

use std::collections::BTreeMap;
use std::path::Path;

use drivers::encoders::{Backend, OnnxRuntime, try_model};
use drivers::models::{Arrived, Availability, InstalledModel, InstalledModels, ModelEntry, read_lock, write_lock};

/// What became of a model whose files are all there.
pub(super) enum Outcome {
    /// The catalogue's own model of the role, which needs no more.
    Plain,
    /// It was tried and fills its role; what its trials said.
    Tried(Vec<String>),
    /// It was tried and is pinned in `models.lock` now.
    Pinned(Vec<String>),
}

/// Tries a model and pins it, if either is called for: a model that nobody has run, one whose digests were accepted, or one that
/// takes the place of another.
///
/// # Errors
/// If it does not serve its role or cannot be pinned; then it is not put into use. The text says what to do.
pub(super) fn put_into_use(
    model: &ModelEntry,
    accepted: &BTreeMap<String, Arrived>,
    models: &InstalledModels,
    directory: &Path,
) -> Result<Outcome, String> {
    let takes_over = !models.catalogue().fills(model);
    if !model.unverified && accepted.is_empty() && !takes_over {
        return Ok(Outcome::Plain);
    }
    let mut entry = model.clone();
    for file in &mut entry.files {
        if let Some(arrived) = accepted.get(&file.file) {
            (file.sha256, file.bytes) = (arrived.sha256.clone(), arrived.bytes);
        }
    }
    let files = entry.files.iter().map(|file| (file.part, directory.join(&file.file))).collect();
    let said = if entry.files.is_empty() {
        Vec::new()
    } else {
        tried(&InstalledModel { entry: entry.clone(), files }, models, directory)
            .map_err(|reason| format!("it does not serve as `{}` and is not used: {reason}", entry.role))?
    };
    if !takes_over && accepted.is_empty() {
        return Ok(Outcome::Tried(said));
    }
    let mut added = read_lock(directory).map_err(|error| error.to_string())?;
    added.retain(|other| other.role != entry.role);
    added.push(entry);
    write_lock(directory, &added).map_err(|error| format!("models.lock in {}: {error}", directory.display()))?;
    Ok(Outcome::Pinned(said))
}

/// What the trials of a model say, on the processor. The folder that is being filled may be one of another machine: its runtime
/// serves as well.
fn tried(model: &InstalledModel, models: &InstalledModels, directory: &Path) -> Result<Vec<String>, String> {
    if model.entry.runtime != "onnx" {
        return try_model(model, None);
    }
    let here = InstalledModels::new(models.catalogue().clone(), Some(directory), None);
    let library = match (models.runtime_library(), here.runtime_library()) {
        (Availability::Found(library), _) | (_, Availability::Found(library)) => library,
        (Availability::Absent(reason) | Availability::Damaged(reason), _) => return Err(reason),
    };
    let runtime = OnnxRuntime::open(&library).map_err(|error| error.to_string())?;
    try_model(model, Some(&runtime as &dyn Backend))
}

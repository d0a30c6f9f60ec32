//! `engram models`: what fills the roles, brought here, checked and measured.

mod add;
mod bench;
#[cfg(feature = "tensorrt")]
mod build;
mod list;
mod pull;
mod test;
mod verify;

use std::path::PathBuf;

use drivers::models::{InstalledModels, ModelEntry, Pinned, Role};

use crate::cli::{GlobalArgs, ModelsCommand};
use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::senses::encoders;

/// Runs one of its commands.
///
/// # Errors
/// See each.
pub fn run(command: &ModelsCommand, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let config = &loaded.config.models;
    match command {
        ModelsCommand::List => list::run(config, output),
        ModelsCommand::Pull(args) => pull::run(args, config, output),
        ModelsCommand::Add(args) => add::add(args, config, output),
        ModelsCommand::Remove { role } => add::remove(role, config, output),
        ModelsCommand::Verify => verify::run(config, output),
        ModelsCommand::Test => test::run(config, output),
        #[cfg(feature = "tensorrt")]
        ModelsCommand::Build(args) => build::run(args, config, output),
        ModelsCommand::Bench { rounds } => bench::run(config, *rounds, output),
    }
}

/// One file that a role needs, with whose it is.
struct WantedFile<'a> {
    /// `runtime` or the name of a role.
    role: String,
    model: String,
    licence: &'a str,
    /// The model; `None` for the runtime.
    entry: Option<&'a ModelEntry>,
    pinned: Pinned<'a>,
}

/// The library that runs graphs, as far as this machine can use it.
fn runtime_files(models: &InstalledModels) -> Vec<WantedFile<'_>> {
    let Some(runtime) = &models.catalogue().onnxruntime else { return Vec::new() };
    let here = runtime.library.iter().filter(|library| library.arch == std::env::consts::ARCH);
    here.map(|library| WantedFile {
        role: "runtime".to_owned(),
        model: format!("ONNX Runtime {}", runtime.version),
        licence: &runtime.licence,
        entry: None,
        pinned: Pinned::from(library),
    })
    .collect()
}

/// The files of a model.
fn model_files(model: &ModelEntry) -> impl Iterator<Item = WantedFile<'_>> {
    model.files.iter().map(|file| WantedFile {
        role: model.role.name().to_owned(),
        model: model.name.clone(),
        licence: &model.licence,
        entry: Some(model),
        pinned: Pinned::from(file),
    })
}

/// The role of that name.
///
/// # Errors
/// [`Exit::Usage`] with the names that there are.
fn role(name: &str) -> Result<Role, Failure> {
    Role::ALL.into_iter().find(|role| role.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
        let near = crate::config::closest(name, names.iter().copied());
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        Failure::new(Exit::Usage, format!("`{name}` is no role: one of {}{hint}", names.join(", ")))
    })
}

/// The directory that is filled.
fn directory(named: Option<&PathBuf>, models: &InstalledModels) -> Result<PathBuf, Failure> {
    named
        .cloned()
        .or_else(|| models.writable_directory().map(PathBuf::from))
        .ok_or_else(|| Failure::new(Exit::Config, "no models directory: name one with --dir or models.dir".to_owned()))
}

fn installed(config: &ModelsConfig) -> Result<InstalledModels, Failure> {
    encoders::installed(config, None)
}

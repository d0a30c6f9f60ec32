//! The encoders of this machine, as the configuration wants them.

use std::collections::BTreeMap;
#[cfg(feature = "tensorrt")]
use std::path::PathBuf;
#[cfg(feature = "tensorrt")]
use std::time::Duration;

#[cfg(feature = "tensorrt")]
use drivers::encoders::tensorrt::{BuilderCommand, Precision, TensorRtOptions};
use drivers::encoders::{Accelerator, EncoderOptions, Encoders, Road, RoleState, RoleStatus};
use drivers::models::{Catalogue, InstalledModels, Role};
use memory_core::PlaceSpace;

use crate::config::{self, ModelsConfig};
use crate::exit::{Exit, Failure, OrExit};
use crate::health::ModelHealth;

/// Begins to load the encoders on a thread of their own. `only`: these roles and no others.
///
/// # Errors
/// [`Exit::Config`] if the manifest cannot be used.
pub fn load(config: &ModelsConfig, only: Option<&[Role]>) -> Result<Encoders, Failure> {
    Encoders::load(installed(config, only)?, options(config)).or_exit(Exit::Internal)
}

/// Begins to load the encoders on this backend, whatever the configuration says of backends. Engines are built before it is
/// ready.
///
/// # Errors
/// [`Exit::Config`] if the manifest cannot be used.
pub fn load_on(config: &ModelsConfig, accelerator: Accelerator) -> Result<Encoders, Failure> {
    let options = EncoderOptions { accelerator, roles: BTreeMap::new(), wait_for_engines: true, ..options(config) };
    Encoders::load(installed(config, None)?, options).or_exit(Exit::Internal)
}

/// Returns what is installed, without loading anything.
///
/// # Errors
/// [`Exit::Config`] if the manifest cannot be used.
pub fn installed(config: &ModelsConfig, only: Option<&[Role]>) -> Result<InstalledModels, Failure> {
    let catalogue = Catalogue::load(config.manifest.as_deref()).or_exit(Exit::Config)?;
    // What the configuration names goes before what was added to a directory.
    let firm = match &config.manifest {
        Some(path) => Catalogue::roles_of(path).or_exit(Exit::Config)?,
        None => Vec::new(),
    };
    let library = config.onnxruntime.clone();
    let mut models =
        InstalledModels::with_added(catalogue, config.dir.as_deref(), library, &firm).or_exit(Exit::Config)?;
    models.retain(|role| {
        let disabled = config.disabled.iter().any(|name| name == role.name());
        !disabled && only.is_none_or(|only| only.contains(&role))
    });
    Ok(models)
}

/// Returns the mean cosines from which faces, and voices, belong to one person, according to the models in use.
///
/// Returns nothing if the manifest cannot be used: loading the encoders reports that.
pub fn same_person(config: &ModelsConfig) -> (Option<f64>, Option<f64>) {
    let Ok(models) = installed(config, None) else { return (None, None) };
    let same = |role| {
        let entry = models.catalogue().model(role)?;
        Some(f64::from(entry.parameter("same").ok()?).clamp(0.05, 0.95))
    };
    (same(Role::FaceEmbedding), same(Role::VoiceEmbedding))
}

/// The spaces of pictures in which places can be told apart, with γ: the parameter `same_place` of the catalogue's entries, those of
/// the models in force before the program's own. What a model that is not installed or is disabled once saw stays comparable.
///
/// Returns only the program's own if the manifest cannot be used: loading the encoders reports that.
pub fn place_spaces(config: &ModelsConfig) -> Vec<PlaceSpace> {
    let in_force = ModelsConfig { disabled: Vec::new(), ..config.clone() };
    let models = installed(&in_force, None).ok();
    let own = Catalogue::load(None).ok();
    let catalogues = models.iter().map(InstalledModels::catalogue).chain(&own);
    let mut spaces: Vec<PlaceSpace> = Vec::new();
    for found in catalogues.flat_map(Catalogue::place_spaces) {
        if spaces.iter().all(|known| known.space != found.space) {
            spaces.push(found);
        }
    }
    spaces
}

fn options(config: &ModelsConfig) -> EncoderOptions {
    let roles =
        config.backends.iter().filter_map(|(name, backend)| Some((role(name)?, accelerator(*backend)))).collect();
    EncoderOptions {
        accelerator: accelerator(config.backend),
        roles,
        threads: config.threads,
        road: match config.tensorrt.road {
            config::TensorRtRoad::Auto => Road::Auto,
            config::TensorRtRoad::OnnxRuntime => Road::OnnxRuntime,
            config::TensorRtRoad::Native => Road::Native,
        },
        wait_for_engines: false,
        #[cfg(feature = "tensorrt")]
        tensorrt: Some(tensorrt(config)),
    }
}

/// Returns the options of TensorRT. Its builder is this program.
#[cfg(feature = "tensorrt")]
pub fn tensorrt(config: &ModelsConfig) -> TensorRtOptions {
    let configured = &config.tensorrt;
    let builder = BuilderCommand {
        program: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("engram")),
        arguments: vec!["build-engine".to_owned()],
    };
    let cache = configured.cache.clone().unwrap_or_else(|| config::default_data_dir().join("engines"));
    TensorRtOptions {
        library: configured.library.clone(),
        parser: configured.parser.clone(),
        driver: configured.driver.clone(),
        allow_rtx: configured.allow_rtx,
        device: configured.device,
        precision: match configured.precision {
            config::EnginePrecision::Fp32 => Precision::Fp32,
            config::EnginePrecision::Fp16 => Precision::Fp16,
            config::EnginePrecision::Int8 => Precision::Int8,
        },
        dla: configured.dla,
        workspace_mib: configured.workspace_mib,
        cache_mib: configured.cache_mib,
        patience: Duration::from_secs(configured.patience_min * 60),
        ..TensorRtOptions::new(cache, builder)
    }
}

fn role(name: &str) -> Option<Role> {
    Role::ALL.into_iter().find(|role| role.name() == name)
}

fn accelerator(configured: config::Accelerator) -> Accelerator {
    match configured {
        config::Accelerator::Auto => Accelerator::Auto,
        config::Accelerator::Cpu => Accelerator::Cpu,
        config::Accelerator::Cuda => Accelerator::Cuda,
        config::Accelerator::TensorRt => Accelerator::TensorRt,
    }
}

/// Returns the health of the roles.
pub fn health(config: &ModelsConfig, status: BTreeMap<Role, RoleStatus>) -> BTreeMap<String, ModelHealth> {
    status
        .into_iter()
        .map(|(role, status)| {
            let disabled = config.disabled.iter().any(|name| name == role.name());
            let state = match status.state {
                RoleState::Loading => "loading",
                RoleState::Ready => "ready",
                RoleState::Absent => "absent",
                RoleState::Failed => "failed",
            };
            let reason = if disabled { Some("disabled by models.disabled".to_owned()) } else { status.reason };
            let health = ModelHealth { state: state.to_owned(), model: status.model, backend: status.backend, reason };
            (role.name().to_owned(), health)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn voices_go_by_the_threshold_of_the_model_in_force_unless_one_is_configured() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.models.dir = Some(folder.path().to_owned());
        let voices = |config: &Config| config.learning.options(same_person(&config.models)).same_person.1;
        assert!((voices(&config) - 0.86).abs() < 1e-6, "the stopgap's: {}", voices(&config));

        let manifest = folder.path().join("own.toml");
        let own = r#"
            version = 1
            [[model]]
            role = "voice embedding"
            name = "own"
            licence = "own"
            runtime = "builtin"
            space = "own"
            dimensions = 38
            preprocessing = "own"
            inputs = []
            outputs = []
            parameters = { shortest_ms = 1000, same = 0.55 }
            file = []
        "#;
        std::fs::write(&manifest, own).unwrap();
        config.models.manifest = Some(manifest);
        assert!((voices(&config) - 0.55).abs() < 1e-6, "{}", voices(&config));
        config.learning.same_voice = Some(0.7);
        assert!((voices(&config) - 0.7).abs() < 1e-6, "{}", voices(&config));
        config.learning.same_voice = None;
        config.models.manifest = Some(folder.path().join("missing.toml"));
        assert!((voices(&config) - 0.48).abs() < 1e-6, "{}", voices(&config));
    }

    #[test]
    fn places_go_by_the_catalogue_and_a_model_that_is_added_or_disabled_changes_only_its_own_space() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.models.dir = Some(folder.path().to_owned());
        let own_space = |gamma| PlaceSpace { space: "mobilenet-v1/avgpool/l2".into(), gamma };
        assert_eq!(place_spaces(&config.models), [own_space(0.82)]);
        config.models.disabled = vec!["image embedding".into()];
        assert_eq!(place_spaces(&config.models), [own_space(0.82)], "what it saw stays comparable");

        let manifest = folder.path().join("own.toml");
        let entry = |space: &str, gamma: f32| {
            format!(
                r#"
                version = 1
                [[model]]
                role = "image embedding"
                name = "own"
                licence = "own"
                runtime = "builtin"
                space = "{space}"
                dimensions = 4
                preprocessing = "own"
                inputs = []
                outputs = []
                parameters = {{ same_place = {gamma} }}
                file = []
                "#
            )
        };
        config.models.manifest = Some(manifest.clone());
        std::fs::write(&manifest, entry("own", 0.7)).unwrap();
        let other = PlaceSpace { space: "own".into(), gamma: 0.7 };
        assert_eq!(place_spaces(&config.models), [other, own_space(0.82)]);
        std::fs::write(&manifest, entry("mobilenet-v1/avgpool/l2", 0.9)).unwrap();
        assert_eq!(place_spaces(&config.models), [own_space(0.9)]);
        std::fs::write(&manifest, "no catalogue").unwrap();
        assert_eq!(place_spaces(&config.models), [own_space(0.82)]);
    }
}

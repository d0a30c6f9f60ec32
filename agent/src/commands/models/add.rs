use std::fs::File;
use std::io::Read;
use std::path::Path;

use drivers::encoders::{Backend, GraphTensors, OnnxRuntime, try_model};
use drivers::models::{
    Availability, Catalogue, InstalledModel, InstalledModels, MirrorSource, ModelEntry, ModelFile, Part, Role, Source,
    TensorSpec, file_digest, read_lock, write_lock,
};
use serde_json::json;

use super::{directory, installed, role};
use crate::cli::AddArgs;
use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure, OrExit};
use crate::output::Output;

/// Puts a model of the user's own into the store and pins it, after it has proved that it serves its role.
///
/// # Errors
/// [`Exit::Source`] if a file cannot be read or the model does not fit its role; then nothing is changed.
pub fn add(args: &AddArgs, config: &ModelsConfig, output: Output) -> Result<Exit, Failure> {
    let role = role(&args.role)?;
    let models = installed(config)?;
    let directory = directory(args.dir.as_ref(), &models)?;
    let refuse = |message: String| Failure::new(Exit::Source, message);
    let template = match &args.entry {
        Some(path) => Catalogue::single(path).or_exit(Exit::Config)?,
        None => models.catalogue().model(role).cloned().ok_or_else(|| {
            refuse(format!(
                "nothing is known of how models for `{role}` work: describe yours in a file and name it with --entry"
            ))
        })?,
    };
    let template = if role == Role::SpeechRecognition && is_ggml(&args.graph) { template.of_ggml() } else { template };
    if template.role != role {
        return Err(refuse(format!("the entry is for the role `{}`, not `{role}`", template.role)));
    }
    let runtime = match models.runtime_library() {
        _ if template.runtime != "onnx" => None,
        Availability::Found(library) => Some(OnnxRuntime::open(&library).or_exit(Exit::Source)?),
        Availability::Absent(reason) | Availability::Damaged(reason) => return Err(refuse(reason)),
    };
    // Only graphs of ONNX describe themselves.
    let found = match &runtime {
        Some(runtime) => runtime.describe(&args.graph).or_exit(Exit::Source)?,
        None => GraphTensors { inputs: template.inputs.clone(), outputs: template.outputs.clone() },
    };
    let entry = entry(args, template, &found).map_err(refuse)?;
    let trial = InstalledModel { files: given_files(args), entry: entry.clone() };
    let trial = with_kept_files(trial, &models)?;
    let backend = runtime.as_ref().map(|runtime| runtime as &dyn Backend);
    let said = try_model(&trial, backend)
        .map_err(|reason| refuse(format!("{} does not serve as `{role}`: {reason}", args.graph.display())))?;

    std::fs::create_dir_all(&directory).or_exit(Exit::Store)?;
    for file in &entry.files {
        let from = &trial.files[&file.part];
        let to = directory.join(&file.file);
        if *from != to {
            place(from, &to).map_err(|error| Failure::new(Exit::Store, format!("{}: {error}", to.display())))?;
        }
    }
    let mut added = read_lock(&directory).or_exit(Exit::Config)?;
    added.retain(|other| other.role != role);
    added.push(entry.clone());
    let lock = write_lock(&directory, &added).or_exit(Exit::Store)?;
    if output.json {
        output.json(
            &json!({ "role": role.name(), "model": entry.name, "space": entry.space, "said": said, "lock": lock }),
        );
    } else {
        output.text(format!("{role}: {} is pinned in {}", entry.name, lock.display()));
        for line in said {
            output.text(format!("  {line}"));
        }
        if let Some(space) = &entry.space {
            output.text(format!(
                "  its vectors lie in the space {space}; what was embedded in another is embedded again"
            ));
        }
    }
    Ok(Exit::Ok)
}

/// Takes an added model out again; its files stay.
///
/// # Errors
/// [`Exit::Usage`] if none was added for the role.
pub fn remove(name: &str, config: &ModelsConfig, output: Output) -> Result<Exit, Failure> {
    let role = role(name)?;
    let models = installed(config)?;
    for directory in models.directories() {
        let mut added = read_lock(directory).or_exit(Exit::Config)?;
        let before = added.len();
        added.retain(|other| other.role != role);
        if added.len() < before {
            let lock = write_lock(directory, &added).or_exit(Exit::Store)?;
            output.text(format!("{role}: the catalogue's model again; {} no longer names another", lock.display()));
            return Ok(Exit::Ok);
        }
    }
    Err(Failure::new(Exit::Usage, format!("no model was added for `{role}`")))
}

/// The files that the command line names.
fn given_files(args: &AddArgs) -> std::collections::BTreeMap<Part, std::path::PathBuf> {
    let parts = [
        (Part::Graph, Some(&args.graph)),
        (Part::TextGraph, args.text_graph.as_ref()),
        (Part::Tokenizer, args.tokenizer.as_ref()),
        (Part::Labels, args.labels.as_ref()),
    ];
    parts.into_iter().filter_map(|(part, path)| Some((part, path?.clone()))).collect()
}

/// Adds the files of the previous model that no new file replaces: its tokenizer, its labels.
fn with_kept_files(mut trial: InstalledModel, models: &InstalledModels) -> Result<InstalledModel, Failure> {
    let missing: Vec<Part> =
        trial.entry.files.iter().map(|file| file.part).filter(|part| !trial.files.contains_key(part)).collect();
    if missing.is_empty() {
        return Ok(trial);
    }
    match models.model(trial.entry.role) {
        Availability::Found(before) => {
            for part in missing {
                if let Some(path) = before.files.get(&part) {
                    trial.files.insert(part, path.clone());
                }
            }
            Ok(trial)
        }
        Availability::Absent(reason) | Availability::Damaged(reason) => Err(Failure::new(
            Exit::Source,
            format!("{} needs {missing:?} of the model before, and {reason}", trial.entry.name),
        )),
    }
}

/// The template with the user's files, the graph's real tensors and a space of its own.
fn entry(args: &AddArgs, template: ModelEntry, found: &GraphTensors) -> Result<ModelEntry, String> {
    let mut entry = template;
    let graph = file_digest(&args.graph).map_err(|error| format!("{}: {error}", args.graph.display()))?;
    entry.name = args.name.clone().unwrap_or_else(|| stem(&args.graph));
    entry.licence = args.licence.clone().unwrap_or_else(|| "not stated".to_owned());
    entry.inputs = real(&entry.inputs, &found.inputs, "input")?;
    entry.outputs = real(&entry.outputs, &found.outputs, "output")?;
    if entry.space.is_some() {
        // Other weights are another space, whatever they are called.
        entry.space = Some(args.space.clone().unwrap_or_else(|| format!("{}/{}", entry.name, &graph.0[..12])));
        let last = entry.outputs.iter().rev().find_map(|output| output.shape.iter().rev().find(|n| **n > 1).copied());
        let dimensions = args.dimensions.or_else(|| last.and_then(|n| usize::try_from(n).ok()));
        entry.dimensions = dimensions.or(entry.dimensions);
    }
    // Its trials are passed when it is pinned.
    entry.unverified = false;
    if args.labels.is_some() {
        entry.labels.clear();
        entry.boxes.clear();
        entry.groups.clear();
    }
    for (name, value) in &args.parameters {
        let value = value.parse().map_err(|_| format!("--parameter {name}={value}: expected a number"))?;
        entry.parameters.insert(name.clone(), value);
    }
    for (part, path) in given_files(args) {
        let (sha256, bytes) = file_digest(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let file = format!("own-{}-{name}", &sha256[..8]);
        let made = format!("added from {name}");
        let sources = vec![Source::Mirror(MirrorSource { mirror: made, sha256: None, bytes: None })];
        entry.files.retain(|other| other.part != part);
        entry.files.push(ModelFile { part, file, sha256, bytes, sources });
    }
    Ok(entry)
}

/// The graph's tensors in the order of the template: by name, or, where there is one on both sides, that one.
fn real(template: &[TensorSpec], found: &[TensorSpec], side: &str) -> Result<Vec<TensorSpec>, String> {
    if let ([_], [only]) = (template, found) {
        return Ok(vec![only.clone()]);
    }
    let named = |spec: &TensorSpec| found.iter().find(|other| other.name == spec.name).cloned();
    template
        .iter()
        .map(|spec| {
            named(spec).ok_or_else(|| {
                let names: Vec<&str> = found.iter().map(|other| other.name.as_str()).collect();
                format!(
                    "it has no {side} `{}`, but {}: describe it in a file and name that with --entry",
                    spec.name,
                    names.join(", ")
                )
            })
        })
        .collect()
}

/// Whether a file is a model of whisper.cpp.
fn is_ggml(path: &Path) -> bool {
    let mut begin = [0; 4];
    File::open(path).is_ok_and(|mut file| file.read_exact(&mut begin).is_ok()) && begin == *b"lmgg"
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Copies a file so that its name appears when it is whole.
fn place(from: &Path, to: &Path) -> std::io::Result<()> {
    let part = to.with_extension("part");
    std::fs::copy(from, &part)?;
    File::open(&part)?.sync_all()?;
    std::fs::rename(part, to)?;
    File::open(to.parent().unwrap_or(to))?.sync_all()
}

use drivers::encoders::tensorrt::{TensorRt, TensorRtError};
use drivers::models::{Availability, InstalledModel, Part, Role};
use serde_json::json;

use super::{installed, role};
use crate::cli::BuildArgs;
use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure};
use crate::output::{Output, progress};
use crate::senses::encoders;

/// Builds TensorRT's engines of every model that it can run, so that no start has to.
///
/// # Errors
/// [`Exit::Usage`] if a role is none, [`Exit::Unhealthy`] if TensorRT does not serve on this machine. An engine that cannot be
/// built keeps no other away; the answer is [`Exit::Unhealthy`] then.
pub fn run(args: &BuildArgs, config: &ModelsConfig, output: Output) -> Result<Exit, Failure> {
    for name in &args.roles {
        role(name)?;
    }
    let models = installed(config)?;
    let unhealthy = |error: TensorRtError| Failure::new(Exit::Unhealthy, error.to_string());
    let backend = TensorRt::open(encoders::tensorrt(config)).map_err(unhealthy)?;
    if !output.json {
        output.text(format!("{} on {}", backend.describe_library(), backend.describe_device()));
    }
    let (mut rows, mut failed) = (Vec::new(), 0);
    for role in Role::ALL {
        let asked = args.roles.is_empty() || args.roles.iter().any(|name| name == role.name());
        let Some(entry) = models.catalogue().model(role).filter(|entry| asked && entry.tensorrt) else { continue };
        let graphs = match models.model(role) {
            Availability::Found(model) => graphs(model),
            Availability::Absent(reason) | Availability::Damaged(reason) => Err(reason),
        };
        let (state, detail) = match graphs.and_then(|graphs| build(&backend, &graphs, args.fresh, role)) {
            Ok(()) => ("ready", String::new()),
            Err(reason) if models_absent(&models, role) => ("absent", reason),
            Err(reason) => {
                failed += 1;
                ("failed", reason)
            }
        };
        if !output.json {
            output.text(format!("{:<21} {state:<7} {:<18} {detail}", role.name(), entry.name).trim_end());
        }
        rows.push(json!({ "role": role.name(), "model": entry.name, "state": state, "detail": detail }));
    }
    if output.json {
        output.json(&json!({
            "ok": failed == 0, "library": backend.describe_library(), "device": backend.describe_device(), "engines": rows,
        }));
    }
    Ok(if failed == 0 { Exit::Ok } else { Exit::Unhealthy })
}

fn models_absent(models: &drivers::models::InstalledModels, role: Role) -> bool {
    matches!(models.model(role), Availability::Absent(_))
}

/// Every network of a model.
fn graphs(model: InstalledModel) -> Result<Vec<InstalledModel>, String> {
    let second = match model.files.contains_key(&Part::TextGraph) {
        true => Some(model.second_network()?),
        false => None,
    };
    Ok(std::iter::once(model).chain(second).collect())
}

fn build(backend: &TensorRt, graphs: &[InstalledModel], fresh: bool, role: Role) -> Result<(), String> {
    for graph in graphs {
        let bar = progress(None, "{spinner} {prefix}: {msg} {elapsed}");
        bar.set_prefix(role.name());
        let built = backend.load_engine(graph, fresh, &mut |progress| {
            bar.set_message(progress.to_string());
            bar.tick();
        });
        bar.finish_and_clear();
        built.map_err(|error| error.to_string())?;
    }
    Ok(())
}

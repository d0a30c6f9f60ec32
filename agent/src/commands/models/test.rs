use std::collections::BTreeMap;

use drivers::encoders::{RoleState, Trial, trials};
use drivers::models::Role;
use serde_json::json;

use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::senses::encoders;

/// Says for each installed role whether its output is sane.
///
/// # Errors
/// [`Exit::Config`] if the manifest cannot be used. [`Exit::Unhealthy`] is the answer where a model does not serve.
pub fn run(config: &ModelsConfig, output: Output) -> Result<Exit, Failure> {
    let loaded = encoders::load(config, None)?;
    loaded.wait_ready();
    let trials: BTreeMap<Role, Trial> = trials(&loaded.filled()).into_iter().map(|trial| (trial.role, trial)).collect();
    let (mut rows, mut failed) = (Vec::new(), 0);
    for (role, status) in loaded.status() {
        let (state, detail) = match (status.state, trials.get(&role)) {
            (RoleState::Ready, Some(trial)) => match trial.run() {
                Ok(said) => ("sane", said),
                Err(reason) => ("wrong", reason),
            },
            (RoleState::Ready, None) => ("ready", "it has no trial".to_owned()),
            (RoleState::Absent, _) => ("absent", status.reason.unwrap_or_default()),
            _ => ("failed", status.reason.unwrap_or_default()),
        };
        failed += usize::from(matches!(state, "wrong" | "failed"));
        let model = status.model.unwrap_or_default();
        if !output.json {
            output.text(format!("{:<21} {state:<7} {model:<18} {detail}", role.name()).trim_end());
        }
        rows.push(json!({ "role": role.name(), "state": state, "model": model, "detail": detail }));
    }
    if output.json {
        output.json(&json!({ "ok": failed == 0, "models": rows }));
    }
    Ok(if failed == 0 { Exit::Ok } else { Exit::Unhealthy })
}

use drivers::models::{Availability, Role};
use serde_json::json;

use super::installed;
use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Reads every byte of what is installed.
///
/// # Errors
/// [`Exit::Config`] if the manifest cannot be used. [`Exit::Store`] is the answer where a file is damaged.
pub fn run(config: &ModelsConfig, output: Output) -> Result<Exit, Failure> {
    let models = installed(config)?;
    let mut rows = Vec::new();
    let (mut whole, mut damaged) = (0, 0);
    let mut note = |name: &str, state: Availability<()>| {
        let (state, detail) = match state {
            Availability::Found(()) => {
                whole += 1;
                ("whole", String::new())
            }
            Availability::Absent(reason) => ("absent", reason),
            Availability::Damaged(reason) => {
                damaged += 1;
                ("damaged", reason)
            }
        };
        if !output.json && state != "absent" {
            output.text(format!("{name:<21} {state:<10} {detail}").trim_end());
        }
        rows.push(json!({ "role": name, "state": state, "detail": detail }));
    };
    note("runtime", models.runtime_library().map(drop));
    for role in Role::ALL.into_iter().filter(|role| models.catalogue().model(*role).is_some()) {
        note(role.name(), models.model(role).map(drop));
    }
    if output.json {
        output.json(&json!({ "ok": damaged == 0, "whole": whole, "damaged": damaged, "models": rows }));
    } else {
        output.text(format!("{whole} whole, {damaged} damaged"));
    }
    Ok(if damaged == 0 { Exit::Ok } else { Exit::Store })
}

//! The encoders: what fills each role and what really runs it.

use drivers::encoders::RoleState;

use super::{Finding, Report};
use crate::config::Config;
use crate::senses::encoders;

pub fn examine(config: &Config, report: &mut Report) {
    let loaded = match encoders::load(&config.models, None) {
        Ok(loaded) => loaded,
        Err(failure) => {
            let step = "correct models.manifest, or leave it out";
            report.say(Finding::error("models", format!("{:#}", failure.error), step));
            return;
        }
    };
    loaded.wait_ready();
    for (role, status) in loaded.status() {
        let check = format!("model: {role}");
        let reason = status.reason.clone().unwrap_or_default();
        let model = status.model.clone().unwrap_or_default();
        report.say(match status.state {
            RoleState::Ready => {
                let backend = status.backend.unwrap_or_else(|| "the CPU".into());
                match status.reason {
                    None => Finding::ok(check, format!("{model} on {backend}")),
                    Some(note) => Finding::warning(
                        check,
                        format!("{model} on {backend}: {note}"),
                        "engram models build builds engines and says what keeps it from that; or name `cpu` in [models.backends]",
                    ),
                }
            }
            // Nobody can install what there is no model for.
            _ if status.model.is_none() => Finding::ok(check, format!("none ({reason}); answers name it where it matters")),
            RoleState::Absent => Finding::warning(
                check,
                reason,
                "fetch it (engram models pull, with the role if it is not of the default profile), or name its directory in models.dir",
            ),
            RoleState::Failed | RoleState::Loading => Finding::error(
                check,
                format!("{model}: {reason}"),
                "fetch it again, or disable the role in models.disabled; the message says what failed",
            ),
        });
    }
}

//! `engram doctor`: what keeps this machine from working well, and what to do about it.

#[cfg(feature = "tensorrt")]
mod accelerator;
mod broker;
mod bundle;
mod device;
mod llm;
mod mcp;
mod models;
mod poses;
mod sources;
mod system;

use std::io::IsTerminal;

use serde::Serialize;
use serde_json::json;

use super::block_on;
use crate::cli::{DoctorArgs, GlobalArgs};
use crate::config;
use crate::exit::{Exit, Failure};
use crate::output::{Output, visible};

/// How a finding is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is wrong.
    Ok,
    /// Works, with something missing.
    Warning,
    /// Does not work.
    Error,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The check.
    pub check: String,
    /// How it is to be taken.
    pub severity: Severity,
    /// The finding.
    pub found: String,
    /// Remedy; present unless nothing is wrong.
    pub next_step: Option<String>,
}

impl Finding {
    pub(super) fn ok(check: impl Into<String>, found: impl Into<String>) -> Self {
        Self { check: check.into(), severity: Severity::Ok, found: found.into(), next_step: None }
    }

    pub(super) fn warning(check: impl Into<String>, found: impl Into<String>, next_step: impl Into<String>) -> Self {
        let next_step = Some(next_step.into());
        Self { check: check.into(), severity: Severity::Warning, found: found.into(), next_step }
    }

    pub(super) fn error(check: impl Into<String>, found: impl Into<String>, next_step: impl Into<String>) -> Self {
        let next_step = Some(next_step.into());
        Self { check: check.into(), severity: Severity::Error, found: found.into(), next_step }
    }
}

/// Looks at everything and prints the findings as they come.
///
/// # Errors
/// [`Exit::Internal`] if the program itself fails; a finding is no error.
pub fn run(args: &DoctorArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let mut report = Report { findings: Vec::new(), output };
    let loaded = config::load(&global.layers());
    match &loaded {
        Ok(loaded) => examine(loaded, args, &mut report)?,
        Err(error) => {
            for problem in &error.problems {
                let fix =
                    problem.hint.clone().unwrap_or_else(|| "correct it; config/engram.toml explains every key".into());
                report.say(Finding::error("configuration", problem.to_string(), fix));
            }
        }
    }
    if let Some(path) = &args.report {
        bundle::write(path, &bundle::bundle(&loaded, &report.findings)).map_err(|error| {
            Failure::new(Exit::Internal, format!("the report cannot be written to {}: {error}", path.display()))
        })?;
        let shown = path.display();
        report.note(format!(
            "\nreport: {shown} (read it before you send it: no secrets and no memories, but names and paths)"
        ));
    }
    Ok(report.finish())
}

fn examine(loaded: &config::Loaded, args: &DoctorArgs, report: &mut Report) -> Result<(), Failure> {
    let files: Vec<String> = loaded.files.iter().map(|file| file.display().to_string()).collect();
    let said = if files.is_empty() { "embedded defaults, no file".to_owned() } else { files.join(", ") };
    report.say(Finding::ok("configuration", said));
    // The doctor speaks for itself; logs would only interrupt it.
    let mut log = loaded.config.log.clone();
    log.level = "error".to_owned();
    crate::logging::start(&log).map_err(|error| Failure { exit: Exit::Config, error })?;

    system::examine(&loaded.config, report);
    device::examine(&loaded.config, report);
    #[cfg(feature = "tensorrt")]
    accelerator::examine(&loaded.config, report);
    models::examine(&loaded.config, report);
    sources::examine(&loaded.config, std::time::Duration::from_secs_f64(args.timeout), report);
    block_on(llm::examine(&loaded.config, report));
    mcp::examine(&loaded.config, report);
    if !args.no_broker {
        block_on(broker::examine(&loaded.config, report));
    }
    Ok(())
}

/// Collects findings and prints them for people as they come.
pub(super) struct Report {
    findings: Vec<Finding>,
    output: Output,
}

impl Report {
    pub(super) fn say(&mut self, finding: Finding) {
        if !self.output.json {
            let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let (mark, code) = match finding.severity {
                Severity::Ok => ("ok   ", "32"),
                Severity::Warning => ("warn ", "33"),
                Severity::Error => ("ERROR", "31"),
            };
            let mark = if colour { format!("\x1b[{code}m{mark}\x1b[0m") } else { mark.to_owned() };
            self.output.styled(format!("{mark} {}: {}", finding.check, visible(&finding.found)));
            if let Some(step) = &finding.next_step {
                self.output.text(format!("      → {step}"));
            }
        }
        self.findings.push(finding);
    }

    /// A line for people.
    fn note(&self, line: impl AsRef<str>) {
        if !self.output.json {
            self.output.text(line);
        }
    }

    fn finish(self) -> Exit {
        let worst = self.findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Ok);
        let count = |severity| self.findings.iter().filter(|finding| finding.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        if self.output.json {
            self.output.json(&json!({
                "ok": worst != Severity::Error, "errors": errors, "warnings": warnings, "findings": self.findings,
            }));
        } else if errors == 0 && warnings == 0 {
            self.output.text("\nall is well");
        } else {
            self.output.text(format!("\n{errors} to fix, {warnings} to consider"));
        }
        if worst == Severity::Error { Exit::Unhealthy } else { Exit::Ok }
    }
}

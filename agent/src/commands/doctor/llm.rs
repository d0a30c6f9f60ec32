//! Language models: who gets the words and the pictures, whether there is a reply, and what it has cost.

use std::sync::Arc;

use jiff::tz::TimeZone;
use memory_core::{Clock, SystemClock};

use super::{Finding, Report};
use crate::config::{Config, Directories};
use crate::health::LanguageModelHealth;
use crate::llm::{LanguageModels, LlmError, SchemaSupport};

pub async fn examine(config: &Config, report: &mut Report) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let zone = config.memory.time_zone.as_deref().and_then(|zone| TimeZone::get(zone).ok()).unwrap_or(TimeZone::UTC);
    // A look at a transcript, or at one that grows, is none of the doctor's.
    let mut section = config.llm.clone();
    (section.record, section.replay) = (None, None);
    let data = Directories::from_config(config).data;
    let models = LanguageModels::new(&section, Some(&data), &clock, &zone);
    for (name, reason) in &models.unusable {
        report.say(Finding::error(
            name,
            reason,
            "correct the section, or delete its `url` to do without a language model",
        ));
    }
    for endpoint in models.endpoints() {
        let name = endpoint.name();
        let health = models.health().remove(&name).unwrap_or_default();
        report.say(destination(&name, &health));
        report.say(match endpoint.probe().await {
            Ok(support) => schemas(&name, support),
            Err(error) => unreachable(&name, &error),
        });
        report.say(cost(&name, &health));
    }
}

/// Reports the destination of words and pictures.
fn destination(name: &str, health: &LanguageModelHealth) -> Finding {
    let what = if name == "llm.vision" { "pictures of segments" } else { "questions and the words of the memory" };
    let purposes = health.purposes.join(", ");
    let LanguageModelHealth { host, model, .. } = health;
    match (health.leaves_the_machine, health.encrypted) {
        (false, _) => Finding::ok(name, format!("{what} go to {model} at {host}, on this machine ({purposes})")),
        (true, true) => Finding::ok(
            name,
            format!("{what} leave this machine: they go to {model} at {host}, encrypted ({purposes})"),
        ),
        (true, false) => Finding::warning(
            name,
            format!("{what} leave this machine: they go to {model} at {host}, not encrypted ({purposes})"),
            "use an https:// address, unless nobody else can listen on the way",
        ),
    }
}

fn schemas(name: &str, support: SchemaSupport) -> Finding {
    let check = format!("{name} schemas");
    match support {
        SchemaSupport::Enforced => Finding::ok(check, "replies keep to the schema"),
        SchemaSupport::Ignored => Finding::ok(check, "a schema is accepted and not enforced; replies are checked here"),
        SchemaSupport::Refused => Finding::ok(check, "no schema is accepted; replies are checked here"),
    }
}

fn unreachable(name: &str, error: &LlmError) -> Finding {
    let step = match error {
        LlmError::Ceiling(_) => "raise its `monthly_tokens`, or wait for the next month",
        LlmError::Status(401 | 403) => "check the token in its `token_file`",
        LlmError::Status(404) => "check its `url`, which ends before /chat/completions, and its `model`",
        LlmError::Timeout(_) => "raise its `timeout_s`, or use a smaller model",
        _ => "start the server at its `url`; until then answers go without it",
    };
    Finding::warning(format!("{name} reply"), error.to_string(), step)
}

fn cost(name: &str, health: &LanguageModelHealth) -> Finding {
    let ceiling = health.monthly_tokens.map_or("no ceiling".to_owned(), |ceiling| format!("ceiling {ceiling}"));
    let LanguageModelHealth { tokens_today, seconds_today, requests_today, tokens_month, .. } = health;
    let said = format!(
        "today {requests_today} requests, {tokens_today} tokens, {seconds_today} s; this month {tokens_month} tokens ({ceiling})"
    );
    Finding::ok(format!("{name} use"), said)
}

#[cfg(test)]
mod tests {
    use engram_tests::{LanguageModel, Play};

    use super::super::Severity;
    use super::*;
    use crate::config::EndpointConfig;
    use crate::output::Output;

    async fn found(chat: EndpointConfig) -> Vec<(String, Severity, String)> {
        let directory = tempfile::tempdir().unwrap();
        let mut config = Config { data_dir: Some(directory.path().to_path_buf()), ..Config::default() };
        config.llm.chat = chat;
        let mut report = Report { findings: Vec::new(), output: Output { json: true } };
        examine(&config, &mut report).await;
        report.findings.into_iter().map(|finding| (finding.check, finding.severity, finding.found)).collect()
    }

    fn chat(url: String) -> EndpointConfig {
        EndpointConfig { url: Some(url), model: Some("tiny".to_owned()), timeout_s: 5.0, ..EndpointConfig::default() }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn it_says_where_words_go_whether_schemas_hold_and_what_was_used() {
        assert_eq!(found(EndpointConfig::default()).await, []);
        for (says, expected) in [("{\"agreed\": true}", "keep to the schema"), ("hello", "not enforced")] {
            let model = LanguageModel::always(Play::Say(says.to_owned())).unwrap();
            let found = found(chat(model.url())).await;
            let checks: Vec<&str> = found.iter().map(|(check, ..)| check.as_str()).collect();
            assert_eq!(checks, ["llm.chat", "llm.chat schemas", "llm.chat use"]);
            assert!(found[0].2.contains("on this machine") && found[0].2.contains("tiny"), "{found:?}");
            assert!(found[1].2.contains(expected), "{found:?}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_endpoint_that_is_not_there_is_a_warning_with_the_next_step() {
        let url = LanguageModel::always(Play::HangUp).unwrap().url();
        let found = found(chat(url)).await;
        assert_eq!((found[1].0.as_str(), found[1].1), ("llm.chat reply", Severity::Warning));
    }

    #[test]
    fn what_leaves_the_machine_unencrypted_is_warned_of() {
        let health = LanguageModelHealth { leaves_the_machine: true, ..LanguageModelHealth::default() };
        assert_eq!(destination("llm.vision", &health).severity, Severity::Warning);
        let encrypted = LanguageModelHealth { encrypted: true, ..health };
        assert_eq!(destination("llm.vision", &encrypted).severity, Severity::Ok);
        assert!(destination("llm.vision", &encrypted).found.contains("pictures of segments leave this machine"));
    }
}

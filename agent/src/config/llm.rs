//! `[llm]`. The comments here are the descriptions in `engram config schema`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[llm]`: language models behind OpenAI-compatible endpoints. Off unless an endpoint has a `url`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LlmConfig {
    /// File to which every request and reply is appended, so that it can be replayed; it holds the words of the memory.
    pub record: Option<PathBuf>,
    /// File of `record` from which the replies are read instead of asking the endpoints.
    pub replay: Option<PathBuf>,
    /// The endpoint for words.
    pub chat: EndpointConfig,
    /// The endpoint for pictures.
    pub vision: EndpointConfig,
}

/// What an endpoint is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Chooses among the answers that the memory proposes, or reads the answer in what the search found.
    Answers,
    /// Reads facts out of what was told and heard.
    Facts,
    /// Chooses what a summary of an hour or a day says.
    Gists,
    /// Judges whether a sequence of actions is a procedure.
    Procedures,
    /// Says in a sentence what a picture shows.
    Captions,
    /// Looks for what a question asks in pictures of a recording.
    Looking,
    /// Chooses what is looked at next, if `reasoning.controller` is `model`.
    Controller,
}

impl Purpose {
    /// The name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answers => "answers",
            Self::Facts => "facts",
            Self::Gists => "gists",
            Self::Procedures => "procedures",
            Self::Captions => "captions",
            Self::Looking => "looking",
            Self::Controller => "controller",
        }
    }
}

/// `[llm.chat]` and `[llm.vision]`: one endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EndpointConfig {
    /// Base of the addresses, for instance `http://127.0.0.1:8080/v1`; `/chat/completions` is added to it. Without it the
    /// endpoint is off.
    pub url: Option<String>,
    /// Name of the model, as the endpoint knows it.
    pub model: Option<String>,
    /// Tokens that fit in a request and its reply together, as the endpoint is set up.
    #[schemars(range(min = 1024, max = 1_048_576))]
    pub context: u32,
    /// Longest wait for a reply, seconds. A question never waits longer than its own deadline.
    #[schemars(range(min = 0.5, max = 600.0))]
    pub timeout_s: f64,
    /// Secret that is sent as `Authorization: Bearer …`. Prefer `token_file`.
    pub token: Option<String>,
    /// File with the secret; a line break at its end is ignored.
    pub token_file: Option<PathBuf>,
    /// Certificates of the authorities that may vouch for the endpoint, PEM. Default: the system's.
    pub ca_file: Option<PathBuf>,
    /// Tokens a calendar month after which the endpoint is not used any more. Default: no ceiling.
    #[schemars(range(min = 1, max = 1_000_000_000_000u64))]
    pub monthly_tokens: Option<u64>,
    /// What it is used for. Default: everything that suits the endpoint, but `facts`, which sends it every sentence.
    pub purposes: Option<Vec<Purpose>>,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self {
            url: None,
            model: None,
            context: 8192,
            timeout_s: 30.0,
            token: None,
            token_file: None,
            ca_file: None,
            monthly_tokens: None,
            purposes: None,
        }
    }
}

/// Purposes, each with whether it is used unless `purposes` says otherwise.
type Suiting = &'static [(Purpose, bool)];

/// Purposes that suit `[llm.chat]`.
const CHAT_PURPOSES: Suiting = &[
    (Purpose::Answers, true),
    (Purpose::Gists, true),
    (Purpose::Procedures, true),
    (Purpose::Controller, true),
    (Purpose::Facts, false),
];
/// Purposes that suit `[llm.vision]`.
const VISION_PURPOSES: Suiting = &[(Purpose::Captions, true), (Purpose::Looking, true)];

impl LlmConfig {
    /// The endpoints by the name of their section, with what suits them.
    fn endpoints(&self) -> [(&'static str, &EndpointConfig, Suiting); 2] {
        [("chat", &self.chat, CHAT_PURPOSES), ("vision", &self.vision, VISION_PURPOSES)]
    }

    /// The endpoints that are used, with their section and their purposes.
    pub fn used(&self) -> Vec<(&'static str, &EndpointConfig, Vec<Purpose>)> {
        let used = self.endpoints().into_iter().filter(|(_, endpoint, _)| endpoint.url.is_some());
        used.map(|(section, endpoint, suiting)| {
            let usual = || suiting.iter().filter(|(_, usual)| *usual).map(|(purpose, _)| *purpose).collect();
            (section, endpoint, endpoint.purposes.clone().unwrap_or_else(usual))
        })
        .collect()
    }

    /// What is wrong beyond types and ranges: the key below `llm`, and what to do.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        if self.record.is_some() && self.replay.is_some() {
            problems.push(("replay".to_owned(), "is set beside `record`; keep one of them".to_owned()));
        }
        for (section, endpoint, suiting) in self.endpoints() {
            let mut say = |key: &str, message: String| problems.push((format!("{section}.{key}"), message));
            if let Some(url) = &endpoint.url
                && let Err(message) = crate::endpoint_address::EndpointAddress::parse(url)
            {
                say("url", message);
            }
            if endpoint.url.is_some() && endpoint.model.as_ref().is_none_or(|model| model.trim().is_empty()) {
                say("model", "is missing: name the model as the endpoint knows it".to_owned());
            }
            if endpoint.token.is_some() && endpoint.token_file.is_some() {
                say("token", "is set beside `token_file`; keep one of them".to_owned());
            }
            for purpose in endpoint.purposes.iter().flatten() {
                if !suiting.iter().any(|(known, _)| known == purpose) {
                    let known: Vec<&str> = suiting.iter().map(|(purpose, _)| purpose.name()).collect();
                    say("purposes", format!("has `{}`; llm.{section} serves {}", purpose.name(), known.join(", ")));
                }
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(config: &LlmConfig) -> Vec<String> {
        config.problems().into_iter().map(|(key, _)| key).collect()
    }

    fn endpoint(url: &str) -> EndpointConfig {
        EndpointConfig { url: Some(url.to_owned()), model: Some("tiny".to_owned()), ..EndpointConfig::default() }
    }

    #[test]
    fn an_endpoint_needs_an_address_and_a_model_and_one_token_at_most() {
        assert_eq!(faults(&LlmConfig::default()), [""; 0]);
        let chat = endpoint("http://127.0.0.1:8080/v1");
        assert_eq!(faults(&LlmConfig { chat: chat.clone(), ..LlmConfig::default() }), [""; 0]);
        let nameless = EndpointConfig { model: None, ..chat.clone() };
        assert_eq!(faults(&LlmConfig { chat: nameless, ..LlmConfig::default() }), ["chat.model"]);
        let twice = EndpointConfig { token: Some("a".into()), token_file: Some("b".into()), ..chat };
        assert_eq!(faults(&LlmConfig { vision: twice, ..LlmConfig::default() }), ["vision.token"]);
        for url in ["ftp://host/v1", "127.0.0.1:8080", "http://", "http://user:word@host/v1", "http://host/v1?key=x"] {
            assert_eq!(faults(&LlmConfig { chat: endpoint(url), ..LlmConfig::default() }), ["chat.url"], "{url}");
        }
        let both = LlmConfig { record: Some("a".into()), replay: Some("a".into()), ..LlmConfig::default() };
        assert_eq!(faults(&both), ["replay"]);
    }

    #[test]
    fn an_endpoint_serves_what_suits_it_and_facts_only_where_they_are_named() {
        let used = |chat: EndpointConfig| {
            let config = LlmConfig { chat, ..LlmConfig::default() };
            config.used().into_iter().map(|(_, _, purposes)| purposes).collect::<Vec<_>>()
        };
        assert!(used(EndpointConfig::default()).is_empty());
        let chat = endpoint("http://127.0.0.1:8080/v1");
        assert_eq!(
            used(chat.clone()),
            [vec![Purpose::Answers, Purpose::Gists, Purpose::Procedures, Purpose::Controller]]
        );
        let facts = EndpointConfig { purposes: Some(vec![Purpose::Facts]), ..chat.clone() };
        assert_eq!(used(facts), [vec![Purpose::Facts]]);
        let captions = EndpointConfig { purposes: Some(vec![Purpose::Captions]), ..chat };
        assert_eq!(faults(&LlmConfig { chat: captions, ..LlmConfig::default() }), ["chat.purposes"]);
    }
}

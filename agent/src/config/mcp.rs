//! `[mcp]`. The comments here are the descriptions in `engram config schema`.

use std::net::SocketAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MIN_TOKEN_CHARS;

/// `[mcp]`: the Model Context Protocol over HTTP, so that language models on this network can use the memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct McpConfig {
    /// Address and port of `/mcp`, for instance `127.0.0.1:9466`; `0.0.0.0:9466` for every network. Without it there is no
    /// server. `engram mcp` needs none of this section.
    #[schemars(with = "Option<String>")]
    pub listen: Option<SocketAddr>,
    /// Secret that a client sends as `Authorization: Bearer …`, at least 16 characters. Prefer `token_file`.
    pub token: Option<String>,
    /// File with the token; a line break at its end is ignored.
    pub token_file: Option<PathBuf>,
    /// Web pages whose scripts may use it, such as `https://chat.example.com:443`. Default: none. Programs are no web pages
    /// and send no `Origin`.
    pub origins: Vec<String>,
    /// Host names under which clients reach it, besides `localhost` and the name of this machine. Addresses need no
    /// entry.
    pub hosts: Vec<String>,
    /// Whether the tool `forget` is offered. `mqtt.allow.forget = false` denies it as well.
    pub forget: bool,
}

impl McpConfig {
    /// What is wrong beyond types and ranges: the key below `mcp`, and what to do.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if self.token.is_some() && self.token_file.is_some() {
            problems.push(("token", "is set beside `token_file`; keep one of them".to_owned()));
        }
        if self.listen.is_some() && self.token.is_none() && self.token_file.is_none() {
            problems.push(("token_file", "is missing: the memory is served only to whoever knows a token".to_owned()));
        }
        if self.token.as_ref().is_some_and(|token| token.len() < MIN_TOKEN_CHARS) {
            problems.push(("token", format!("is shorter than {MIN_TOKEN_CHARS} characters, and could be guessed")));
        }
        if let Some(origin) = self.origins.iter().find(|origin| !is_origin(origin)) {
            problems.push((
                "origins",
                format!("has `{origin}`, which is no origin; write it with its scheme and port, such as https://chat.example.com:443"),
            ));
        }
        problems
    }
}

/// A scheme and a host without a path; browsers send nothing else.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '?', '#', ' ', '@']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(config: &McpConfig) -> Vec<&'static str> {
        config.problems().into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn a_server_needs_a_token_that_nobody_guesses() {
        assert_eq!(faults(&McpConfig::default()), [""; 0]);
        let listen = Some(SocketAddr::from(([127, 0, 0, 1], 9466)));
        let open = McpConfig { listen, ..McpConfig::default() };
        assert_eq!(faults(&open), ["token_file"]);
        assert_eq!(faults(&McpConfig { token: Some("short".to_owned()), ..open.clone() }), ["token"]);
        let good = McpConfig { token: Some("0123456789abcdef".to_owned()), ..open };
        assert_eq!(faults(&good), [""; 0]);
        assert_eq!(faults(&McpConfig { token_file: Some("token".into()), ..good }), ["token"]);
    }

    #[test]
    fn origins_are_those_that_a_browser_sends() {
        for (origin, fits) in [
            ("https://chat.example.com:443", true),
            ("http://localhost:*", true),
            ("chat.example.com", false),
            ("https://chat.example.com/path", false),
            ("*", false),
            ("https://", false),
        ] {
            let config = McpConfig { origins: vec![origin.to_owned()], ..McpConfig::default() };
            assert_eq!(faults(&config).is_empty(), fits, "{origin}");
        }
    }
}

//! What made a value wrong that nobody wrote: another key, which the default does not fit.

use super::{Node, Origin};

/// Keys that decide whether another one is right.
const CAUSES: [(&str, &[&str]); 22] = [
    ("segments.max_s", &["segments.min_s"]),
    ("segments.max_fps", &["segments.min_fps"]),
    ("mqtt.username", &["mqtt.password", "mqtt.password_file"]),
    ("mqtt.password", &["mqtt.password_file"]),
    ("mqtt.tls.cert_file", &["mqtt.tls.key_file"]),
    ("mqtt.tls.ca_file", &["mqtt.tls.cert_file", "mqtt.tls.crl_file"]),
    ("mqtt.tls.enabled", &["mqtt.tls.ca_file", "mqtt.tls.cert_file"]),
    ("mqtt.limits.ask_bytes", &["mqtt.limits.packet_bytes"]),
    ("mqtt.limits.observe_bytes", &["mqtt.limits.packet_bytes"]),
    ("homeassistant.prefix", &["mqtt.root"]),
    ("thermal.hot_c", &["thermal.warm_c"]),
    ("thermal.hot_load", &["thermal.warm_load"]),
    ("thermal.hot_share", &["thermal.warm_share"]),
    ("recording.server.token", &["recording.server.token_file"]),
    ("recording.server.token_file", &["recording.server.enabled"]),
    ("llm.replay", &["llm.record"]),
    ("llm.chat.model", &["llm.chat.url"]),
    ("llm.chat.token", &["llm.chat.token_file"]),
    ("llm.vision.model", &["llm.vision.url"]),
    ("llm.vision.token", &["llm.vision.token_file"]),
    ("mcp.token", &["mcp.token_file"]),
    ("mcp.token_file", &["mcp.listen"]),
];

/// Where a wrong value of `key` comes from, and a hint where that is another key's line.
pub fn origin_of(key: &str, layers: &Node) -> (Origin, Option<String>) {
    let written = |key: &str| layers.at(key).map(|node| node.origin().clone()).filter(|at| *at != Origin::Default);
    if let Some(origin) = written(key) {
        return (origin, None);
    }
    let causes = CAUSES.iter().filter(|(known, _)| *known == key).flat_map(|(_, causes)| causes.iter());
    for cause in causes {
        if let Some(origin) = written(cause) {
            return (origin, Some(format!("`{cause}` is set here, and `{key}` is not")));
        }
    }
    (Origin::Default, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema;

    #[test]
    fn every_cause_is_a_key() {
        let known = schema::paths(&schema::schema());
        for key in CAUSES.iter().flat_map(|(key, causes)| causes.iter().chain([key])) {
            assert!(known.iter().any(|path| path == key), "{key}");
        }
    }
}

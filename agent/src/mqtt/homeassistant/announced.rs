//! What was announced, noted in the memory so that it can be taken back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::context::Context;

/// Key of the memory's setting; empty if nothing is announced.
const SETTING: &str = "homeassistant";

/// One announcement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// Topic of the device payload.
    pub topic: String,
    /// Topic of the states.
    pub states: String,
    /// Platforms of the components, by their keys.
    pub components: BTreeMap<String, String>,
}

impl Announced {
    /// The retained topics of the announcement.
    pub fn topics(&self) -> [&str; 2] {
        [&self.topic, &self.states]
    }

    /// The components that `now` does not have or has on another platform: key and platform.
    pub fn without(&self, now: &Self) -> Vec<(String, String)> {
        let same_device = self.topic == now.topic;
        let components = self.components.iter().filter(|_| same_device);
        let gone = components.filter(|(key, platform)| now.components.get(*key) != Some(*platform));
        gone.map(|(key, platform)| (key.clone(), platform.clone())).collect()
    }

    /// What is noted; `None` where nothing is announced. What cannot be read was written by a newer version: it is left.
    pub async fn read(context: &Context) -> Option<Self> {
        let memory = context.service.memory().clone();
        let read = tokio::task::spawn_blocking(move || memory.setting(SETTING)).await;
        let text = read.ok()?.ok()??;
        serde_json::from_str(&text).ok()
    }

    /// Notes it.
    pub async fn note(&self, context: &Context) {
        set(context, serde_json::to_string(self).expect("an announcement has text keys")).await;
    }

    /// Notes that nothing is announced.
    pub async fn forget(context: &Context) {
        set(context, String::new()).await;
    }
}

async fn set(context: &Context, text: String) {
    let memory = context.service.memory().clone();
    let written = tokio::task::spawn_blocking(move || memory.set_setting(SETTING, &text)).await;
    if let Ok(Err(error)) = written {
        tracing::warn!(%error, "what Home Assistant was told cannot be noted; switched off, the device may stay there");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(topic: &str, components: &[(&str, &str)]) -> Announced {
        let components = components.iter().map(|(key, platform)| ((*key).to_owned(), (*platform).to_owned()));
        Announced {
            topic: topic.to_owned(),
            states: "engram/k/homeassistant".to_owned(),
            components: components.collect(),
        }
    }

    #[test]
    fn what_is_gone_is_what_is_missing_or_of_another_platform_on_the_same_device() {
        let before = announced("a", &[("disk", "sensor"), ("recording", "switch"), ("source_door", "binary_sensor")]);
        let now = announced("a", &[("disk", "sensor"), ("recording", "binary_sensor")]);
        let gone = [("recording", "switch"), ("source_door", "binary_sensor")];
        assert_eq!(before.without(&now), gone.map(|(key, platform)| (key.to_owned(), platform.to_owned())));
        let elsewhere = announced("b", &[]);
        assert!(before.without(&elsewhere).is_empty(), "the whole device goes with its topic");
    }
}

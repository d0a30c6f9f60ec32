//! `[homeassistant]`: whether the agent announces itself to Home Assistant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::topics::check_name;

/// `[homeassistant]`: discovery by MQTT.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HomeAssistantConfig {
    /// Whether the robot appears in Home Assistant as a device. Then the last event and the last person are kept on the
    /// broker too. Switched off, the device disappears from Home Assistant.
    pub discovery: bool,
    /// First levels of Home Assistant's discovery topics, as its own MQTT settings name them.
    pub prefix: String,
}

impl Default for HomeAssistantConfig {
    fn default() -> Self {
        Self { discovery: false, prefix: "homeassistant".to_owned() }
    }
}

impl HomeAssistantConfig {
    /// What is wrong beyond types: the key below `homeassistant`, and what to do. `root` is the first level of Engram's own
    /// topics.
    pub fn problems(&self, root: &str) -> Vec<(&'static str, String)> {
        let mut levels = self.prefix.split('/');
        if let Some(error) = levels.clone().find_map(|level| check_name(level).err()) {
            return vec![("prefix", format!("{error}; an example is \"homeassistant\""))];
        }
        if levels.next() == Some(root) {
            let message = format!("is below mqtt.root (\"{root}\"), where only Engram's own topics are");
            return vec![("prefix", message)];
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_one_or_more_levels_beside_the_own_topics() {
        let problems = |prefix: &str| {
            HomeAssistantConfig { prefix: prefix.to_owned(), ..HomeAssistantConfig::default() }.problems("engram").len()
        };
        for prefix in ["homeassistant", "home/ha", "engrams"] {
            assert_eq!(problems(prefix), 0, "{prefix}");
        }
        for prefix in ["", "home/", "/home", "home/+", "#", "$SYS", "engram", "engram/kitchen"] {
            assert_eq!(problems(prefix), 1, "{prefix}");
        }
    }
}

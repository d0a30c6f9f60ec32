//! The device payload of Home Assistant's MQTT discovery: one device, its components, and where their states are.
//!
//! Keys are spelled out, but for those of the frame (`dev`, `o`, `cmps`, `p`). Templates are Jinja; a text in one is written as
//! a JSON text, which Jinja reads the same way.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::super::commands::CommandName;
use super::super::context::Context;
use super::super::presence::ONLINE;
use super::super::topics::{Outbound, Topics};
use super::DiscoverySettings;
use super::announced::Announced;
use crate::config::mqtt::MqttConfig;

/// Maximum number of sources that are shown: as many as `…/health` names.
const MAX_SOURCES: usize = 32;
/// An empty request; Home Assistant sends `PRESS` otherwise, which is no JSON.
const NO_FIELDS: &str = "{}";
/// Value that Home Assistant takes for "unknown".
const UNKNOWN: &str = "None";

/// The announced device.
pub struct Device {
    id: String,
    topic: String,
    states: String,
    frame: Map<String, Value>,
    components: Map<String, Value>,
}

impl Device {
    /// The device of this robot.
    pub fn for_robot(context: &Context, wanted: &DiscoverySettings) -> Self {
        Self::new(&context.topics, &context.config, &context.identity.version, wanted)
    }

    fn new(topics: &Topics, config: &MqttConfig, version: &str, wanted: &DiscoverySettings) -> Self {
        let id = [slug(&config.root), slug(topics.robot())].join("-");
        let topic = [wanted.config.prefix.as_str(), "device", &id, "config"].join("/");
        let frame = json!({
            "dev": {
                "identifiers": [id],
                "name": format!("Engram {}", topics.robot()),
                "manufacturer": "Engram",
                "model": "Robot memory",
                "sw_version": version,
            },
            "o": { "name": "Engram", "sw_version": version },
            "availability": [{
                "topic": topics.outbound(Outbound::Status),
                // `offline` is the will and `stopped` a clean end: neither is there.
                "value_template": format!("{{{{ 'online' if value == '{ONLINE}' else 'offline' }}}}"),
            }],
        });
        let mut device = Self {
            id,
            topic,
            states: topics.outbound(Outbound::HomeAssistant),
            frame: object(frame),
            components: Map::new(),
        };
        device.add_sensors(topics);
        device.add_sources(topics, wanted);
        device.add_events(topics);
        device.add_controls(topics, config);
        device
    }

    /// Returns what the memory notes of it.
    pub fn announced(&self) -> Announced {
        let platform = |config: &Value| config["p"].as_str().unwrap_or_default().to_owned();
        Announced {
            topic: self.topic.clone(),
            states: self.states.clone(),
            components: self.components.iter().map(|(key, config)| (key.clone(), platform(config))).collect(),
        }
    }

    /// The payload. `gone` are components that Home Assistant is to remove: key and platform.
    pub fn payload(&self, gone: &[(String, String)]) -> String {
        let mut components = self.components.clone();
        for (key, platform) in gone {
            components.entry(key.clone()).or_insert_with(|| json!({ "p": platform }));
        }
        let mut payload = self.frame.clone();
        payload.insert("cmps".to_owned(), Value::Object(components));
        Value::Object(payload).to_string()
    }

    fn add(&mut self, key: &str, platform: &str, name: &str, config: Value) {
        let mut component = object(json!({
            "p": platform, "name": name, "unique_id": format!("{}-{key}", self.id),
        }));
        component.extend(object(config));
        self.components.insert(key.to_owned(), Value::Object(component));
    }

    fn add_sensors(&mut self, topics: &Topics) {
        let health = topics.outbound(Outbound::Health);
        let states = topics.outbound(Outbound::HomeAssistant);
        let of_health = |template: &str, rest: Value| {
            let mut config = object(json!({ "state_topic": health, "value_template": template }));
            config.extend(object(rest));
            Value::Object(config)
        };
        let last = |field: &str| {
            json!({
                "state_topic": states,
                "value_template": format!("{{{{ (value_json.{field} or {{}}).state | default('{UNKNOWN}') }}}}"),
                "json_attributes_topic": states,
                "json_attributes_template": format!("{{{{ (value_json.{field} or {{}}) | tojson }}}}"),
            })
        };
        let bytes = json!({ "device_class": "data_size", "unit_of_measurement": "B", "state_class": "measurement",
            "suggested_display_precision": 0, "entity_category": "diagnostic" });
        self.add(
            "episodes",
            "sensor",
            "Episodes",
            of_health("{{ value_json.memory.episodes }}", json!({ "state_class": "measurement", "icon": "mdi:brain" })),
        );
        self.add("last_event", "sensor", "Last event", last("last_event"));
        self.add("last_person", "sensor", "Last person", last("last_person"));
        let place = json!({
            "state_topic": states,
            "value_template": format!("{{{{ (value_json.place or {{}}).state | default('{UNKNOWN}') }}}}"),
            "icon": "mdi:map-marker",
        });
        self.add("place", "sensor", "Place", place);
        self.add("disk_free", "sensor", "Disk free", of_health("{{ value_json.disk.free_bytes }}", bytes.clone()));
        self.add("store_size", "sensor", "Memory size", of_health("{{ value_json.disk.store_bytes }}", bytes));
        let temperature = json!({ "device_class": "temperature", "unit_of_measurement": "°C",
            "state_class": "measurement", "entity_category": "diagnostic" });
        // `None` where there is no thermal zone.
        self.add("temperature", "sensor", "Temperature", of_health("{{ value_json.thermal.celsius }}", temperature));
        let degraded = json!({ "device_class": "problem", "entity_category": "diagnostic",
            "json_attributes_topic": health,
            "json_attributes_template":
                "{{ {'degraded': value_json.degraded, 'last_error': value_json.last_error} | tojson }}" });
        self.add(
            "degraded",
            "binary_sensor",
            "Degraded",
            of_health("{{ 'ON' if value_json.degraded else 'OFF' }}", degraded),
        );
    }

    fn add_sources(&mut self, topics: &Topics, wanted: &DiscoverySettings) {
        let health = topics.outbound(Outbound::Health);
        for name in wanted.sources.iter().take(MAX_SOURCES) {
            let quoted = Value::from(name.as_str()).to_string();
            let source = format!("(value_json.sources.get({quoted}) or {{}})");
            let config = json!({
                "device_class": "running",
                "entity_category": "diagnostic",
                "state_topic": health,
                "value_template": format!(
                    "{{% set state = {source}.state | default('') %}}\
                     {{{{ 'ON' if state == 'running' else 'OFF' if state else '{UNKNOWN}' }}}}"
                ),
                "json_attributes_topic": health,
                "json_attributes_template": format!(
                    "{{% set source = {source} %}}\
                     {{{{ {{'state': source.state | default(none), 'error': source.error | default(none)}} | tojson }}}}"
                ),
            });
            self.add(&["source-", &slug(name)].concat(), "binary_sensor", &["Source ", name].concat(), config);
        }
    }

    fn add_events(&mut self, topics: &Topics) {
        let mut event = |key: &str, name: &str, topic: Outbound, types: &[&str], fields: &[&str]| {
            let fields: String =
                fields.iter().map(|field| format!(", '{field}': value_json.{field} | default(none)")).collect();
            let config = json!({
                "state_topic": topics.outbound(topic),
                "event_types": types,
                "value_template": format!("{{{{ {{'event_type': value_json.type{fields}}} | tojson }}}}"),
            });
            self.add(key, "event", name, config);
        };
        event("episode", "Episode", Outbound::Episode, &["new", "update", "end"], &["id"]);
        event("entity", "Person", Outbound::Entity, &["new", "named", "merged", "split"], &["id", "name"]);
        event("procedure", "Procedure", Outbound::Procedure, &["new", "update", "end"], &["id", "goal"]);
    }

    /// What the configuration denies to the broker's clients is not offered: a button that does nothing helps nobody.
    fn add_controls(&mut self, topics: &Topics, config: &MqttConfig) {
        let command = |name: CommandName| topics.command(name.as_str()).expect("names of commands are topic levels");
        let buttons = [
            (CommandName::Snapshot, "Save index", "mdi:content-save"),
            (CommandName::Backup, "Back up", "mdi:database-export"),
        ];
        for (name, words, icon) in buttons.into_iter().filter(|(name, ..)| name.check_allowed(config).is_ok()) {
            let config = json!({
                "command_topic": command(name), "payload_press": NO_FIELDS, "qos": 1, "icon": icon,
                "entity_category": "config",
            });
            self.add(name.as_str(), "button", words, config);
        }
        let recording = topics.outbound(Outbound::Recording);
        let both = [true, false].map(|pause| CommandName::check_recording(pause, config).is_ok());
        if both == [true, true] {
            let config = json!({
                "state_topic": recording, "state_on": "on", "state_off": "paused",
                "command_topic": command(CommandName::Recording), "payload_on": "on", "payload_off": "paused",
                "qos": 1, "icon": "mdi:record-rec",
            });
            self.add("recording", "switch", "Recording", config);
        } else {
            let config = json!({ "state_topic": recording, "payload_on": "on", "payload_off": "paused",
                "device_class": "running" });
            self.add("recording", "binary_sensor", "Recording", config);
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A name as Home Assistant lets it be in a topic. One that has other characters gets a part of its digest, so that two names
/// never become the same.
fn slug(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect();
    if plain == name {
        return plain;
    }
    let digest: String = Sha256::digest(name).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    [plain, digest].join("-")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::HomeAssistantConfig;

    fn device(robot: &str, sources: &[&str], config: &MqttConfig) -> Device {
        let wanted = DiscoverySettings {
            config: HomeAssistantConfig { discovery: true, ..HomeAssistantConfig::default() },
            sources: sources.iter().map(|name| (*name).to_owned()).collect(),
        };
        Device::new(&Topics::new("engram", robot).unwrap(), config, "1.2.3", &wanted)
    }

    fn trusted() -> MqttConfig {
        let allow = ["backup", "pause", "resume"].map(|name| (name.to_owned(), true));
        MqttConfig { allow: allow.into(), ..MqttConfig::default() }
    }

    fn payload(device: &Device) -> Value {
        serde_json::from_str(&device.payload(&[])).unwrap()
    }

    /// The keys that Home Assistant's schemas require and take, by platform (its documentation of MQTT discovery; the real
    /// schemas are asked by `tests/homeassistant`).
    fn keys(platform: &str) -> (&'static [&'static str], &'static [&'static str]) {
        match platform {
            "sensor" => (
                &["state_topic", "value_template"],
                &["device_class", "unit_of_measurement", "state_class", "suggested_display_precision"],
            ),
            "binary_sensor" => (&["state_topic"], &["value_template", "device_class", "payload_on", "payload_off"]),
            "event" => (&["state_topic", "event_types", "value_template"], &[]),
            "button" => (&["command_topic", "payload_press"], &["qos"]),
            "switch" => {
                (&["command_topic", "state_topic", "payload_on", "payload_off", "state_on", "state_off"], &["qos"])
            }
            other => panic!("{other} is none of Home Assistant's platforms that are used here"),
        }
    }

    #[test]
    fn every_component_has_the_keys_of_its_platform_and_an_id_of_its_own() {
        let payload = payload(&device("kitchen", &["door", "Küche 1"], &trusted()));
        let frame: BTreeSet<&str> = payload.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(frame, ["dev", "o", "availability", "cmps"].into());
        let mut ids = BTreeSet::new();
        let mut platforms = BTreeSet::new();
        for (key, component) in payload["cmps"].as_object().unwrap() {
            let platform = component["p"].as_str().unwrap();
            let (required, optional) = keys(platform);
            platforms.insert(platform);
            let common = [
                "p",
                "name",
                "unique_id",
                "icon",
                "entity_category",
                "json_attributes_topic",
                "json_attributes_template",
            ];
            for name in required {
                assert!(component[*name].is_string() || component[*name].is_array(), "{key} has no {name}");
            }
            for name in component.as_object().unwrap().keys().map(String::as_str) {
                let known = common.contains(&name) || required.contains(&name) || optional.contains(&name);
                assert!(known, "{platform} takes no {name}");
            }
            assert!(ids.insert(component["unique_id"].as_str().unwrap()), "{key} has the id of another");
            assert!(!key.contains(' '), "Home Assistant parts ids at blanks: {key}");
        }
        assert_eq!(platforms, ["sensor", "binary_sensor", "event", "button", "switch"].into());
    }

    #[test]
    fn what_an_open_broker_denies_is_not_offered() {
        let payload = payload(&device("kitchen", &[], &MqttConfig::default()));
        let components = payload["cmps"].as_object().unwrap();
        assert!(!components.contains_key("backup") && components.contains_key("snapshot"));
        assert_eq!(components["recording"]["p"], "binary_sensor");
    }

    #[test]
    fn a_component_that_is_gone_is_left_with_its_platform_alone() {
        let device = device("kitchen", &["door"], &trusted());
        let gone = [("source-yard".to_owned(), "binary_sensor".to_owned())];
        let payload: Value = serde_json::from_str(&device.payload(&gone)).unwrap();
        assert_eq!(payload["cmps"]["source-yard"], json!({"p": "binary_sensor"}));
        assert!(device.announced().components.contains_key("source-door"));
    }

    #[test]
    fn topics_have_only_characters_that_home_assistant_takes_and_names_never_collide() {
        let topic = |robot: &str| device(robot, &[], &trusted()).topic;
        assert_eq!(topic("kitchen-1"), "homeassistant/device/engram-kitchen-1/config");
        let names = ["a b", "a_b", "a.b", "ä", "ö"];
        let topics: BTreeSet<String> = names.map(topic).into();
        assert_eq!(topics.len(), names.len(), "{topics:?}");
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/');
        assert!(topics.iter().all(|topic| topic.chars().all(allowed)), "{topics:?}");
    }

    #[test]
    fn a_source_with_quotes_in_its_name_does_not_leave_its_template() {
        let payload = payload(&device("kitchen", &[r#"a"}} {{ '"#], &trusted()));
        let mut sources =
            payload["cmps"].as_object().unwrap().values().filter(|one| one["name"] == r#"Source a"}} {{ '"#);
        let template = sources.next_back().unwrap()["value_template"].as_str().unwrap().to_owned();
        assert!(template.contains(r#"sources.get("a\"}} {{ '")"#), "{template}");
    }
}

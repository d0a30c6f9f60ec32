//! Who may use which MQTT command.

use serde_json::{Map, Value};

use super::fields::Fields;
use super::reply::{Code, Payload, Refusal};
pub use crate::command_name::CommandName;
use crate::config::mqtt::MqttConfig;
use crate::operator::{self, Proofs};

impl CommandName {
    /// # Errors
    /// If there is no such command; the message names those that exist.
    pub fn parse(name: &str) -> Result<Self, Refusal> {
        Self::ALL.into_iter().find(|known| known.as_str() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|known| known.as_str()).collect();
            let name: String = name.chars().take(64).collect();
            Refusal::bad(format!("there is no command `{name}`; the commands are {}", known.join(", ")))
        })
    }

    /// Checks as [`CommandName::check_allowed`] does, for a command that may come from the operator's own command line.
    ///
    /// # Errors
    /// `forbidden`, with the key that would allow it.
    pub fn check_allowed_to(
        self,
        config: &MqttConfig,
        proofs: &Proofs,
        fields: &Map<String, Value>,
    ) -> Result<(), Refusal> {
        self.check_allowed(config).or_else(|refusal| {
            let denied = config.allow.get(self.as_str()) == Some(&false);
            let proof = fields.get(operator::PROOF_FIELD).and_then(Value::as_str).filter(|_| !denied);
            if proof.is_some_and(|proof| proofs.take(proof, self.as_str())) { Ok(()) } else { Err(refusal) }
        })
    }

    /// `recording` does what `pause` and `resume` do, so denying one of those denies it here too.
    ///
    /// # Errors
    /// `forbidden`, with the key that would allow it.
    pub fn check_recording(pause: bool, config: &MqttConfig) -> Result<(), Refusal> {
        let same = if pause { Self::Pause } else { Self::Resume };
        match (config.allow.get(Self::Recording.as_str()), config.allow.get(same.as_str())) {
            (Some(false), _) => Self::Recording.check_allowed(config),
            (Some(true), None) => Ok(()),
            _ => same.check_allowed(config),
        }
    }

    /// # Errors
    /// `forbidden`, with the key that would allow it.
    pub fn check_allowed(self, config: &MqttConfig) -> Result<(), Refusal> {
        let name = self.as_str();
        self.check_not_denied(config)?;
        if !config.allow.contains_key(name) && self.is_guarded() && !config.authenticated() {
            return Err(Refusal::new(
                Code::Forbidden,
                format!(
                    "`{name}` is denied on a broker without authentication; give engram a user name with a password \
                     (mqtt.username, mqtt.password_file), or set mqtt.allow.{name} = true"
                ),
            ));
        }
        Ok(())
    }

    /// # Errors
    /// `forbidden` if the configuration denies it by name.
    pub fn check_not_denied(self, config: &MqttConfig) -> Result<(), Refusal> {
        let name = self.as_str();
        if config.allow.get(name) != Some(&false) {
            return Ok(());
        }
        let message = format!("`{name}` is denied by mqtt.allow.{name} in the configuration");
        Err(Refusal::new(Code::Forbidden, message))
    }
}

/// The fields of a command; an empty payload has none. Only `recording` takes a word.
pub fn fields(name: &str, payload: &Payload) -> Result<Map<String, Value>, Refusal> {
    match payload {
        Payload::Json(Value::Object(map)) => Ok(map.clone()),
        Payload::Text(word) if name == CommandName::Recording.as_str() => {
            Ok(Map::from_iter([("state".to_owned(), word.as_str().into())]))
        }
        Payload::Json(_) | Payload::Text(_) => Err(Refusal::bad("expected a JSON object")),
    }
}

/// `cmd/recording`: whether to pause.
pub fn read_recording(fields: Fields<'_>) -> Result<bool, Refusal> {
    match fields.text("state")? {
        Some("on") => Ok(false),
        Some("paused") => Ok(true),
        _ => Err(Refusal::bad("`state` must be \"on\" or \"paused\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgetting_needs_authentication_or_a_word_in_the_configuration() {
        let open = MqttConfig::default();
        assert_eq!(CommandName::Forget.check_allowed(&open).unwrap_err().code, Code::Forbidden);
        assert_eq!(CommandName::NameEntity.check_allowed(&open).unwrap_err().code, Code::Forbidden);
        assert_eq!(CommandName::List.check_allowed(&open), Ok(()));
        for name in ["backup", "export", "pause", "resume", "restore"] {
            assert_eq!(
                CommandName::parse(name).unwrap().check_allowed(&open).unwrap_err().code,
                Code::Forbidden,
                "{name}"
            );
        }
        let mut known = MqttConfig { username: Some("engram".to_owned()), ..MqttConfig::default() };
        assert_eq!(
            CommandName::Forget.check_allowed(&known).unwrap_err().code,
            Code::Forbidden,
            "a name alone proves nothing"
        );
        known.password = Some(String::new());
        assert_eq!(CommandName::Forget.check_allowed(&known).unwrap_err().code, Code::Forbidden);
        known.password = Some("s3cret".to_owned());
        assert_eq!(CommandName::Forget.check_allowed(&known), Ok(()));
        let mut denied = known;
        denied.allow.insert("list".to_owned(), false);
        assert!(CommandName::List.check_allowed(&denied).unwrap_err().message.contains("mqtt.allow.list"));
        let mut allowed = MqttConfig::default();
        allowed.allow.insert("forget".to_owned(), true);
        assert_eq!(CommandName::Forget.check_allowed(&allowed), Ok(()));
    }

    #[test]
    fn recording_is_allowed_where_what_it_does_is_allowed() {
        let check = |allow: &[(&str, bool)], pause| {
            let mut config = MqttConfig::default();
            config.allow.extend(allow.iter().map(|(name, allowed)| ((*name).to_owned(), *allowed)));
            CommandName::check_recording(pause, &config).is_ok()
        };
        assert!(!check(&[], true), "an open broker");
        assert!(check(&[("recording", true)], true) && check(&[("recording", true)], false));
        assert!(check(&[("pause", true)], true) && !check(&[("pause", true)], false));
        assert!(!check(&[("recording", true), ("resume", false)], false), "denied under its other name");
        assert!(!check(&[("recording", false), ("pause", true)], true));
        let body = |word: &str| read_recording(Fields(&fields("recording", &Payload::Text(word.to_owned())).unwrap()));
        assert_eq!((body("on"), body("paused")), (Ok(false), Ok(true)));
        assert_eq!(body("ON").unwrap_err().code, Code::BadRequest);
        assert!(fields("pause", &Payload::Text("on".to_owned())).is_err());
    }

    #[test]
    fn the_operator_of_the_machine_is_obeyed_on_an_open_broker_unless_the_configuration_denies_it() {
        let folder = tempfile::tempdir().unwrap();
        let config = crate::config::Config { data_dir: Some(folder.path().to_owned()), ..Default::default() };
        let directories = crate::config::Directories::from_config(&config);
        let proofs = Proofs::in_directories(&directories);
        let mut open = MqttConfig::default();
        let proof = operator::Proof::leave(&directories, "pause").unwrap();
        let fields = Map::from_iter([(operator::PROOF_FIELD.to_owned(), proof.name().into())]);
        assert!(CommandName::Resume.check_allowed_to(&open, &proofs, &fields).is_err());
        assert_eq!(CommandName::Pause.check_allowed_to(&open, &proofs, &fields), Ok(()));
        assert!(CommandName::Pause.check_allowed_to(&open, &proofs, &fields).is_err(), "once");
        open.allow.insert("pause".to_owned(), false);
        let proof = operator::Proof::leave(&directories, "pause").unwrap();
        let fields = Map::from_iter([(operator::PROOF_FIELD.to_owned(), proof.name().into())]);
        assert!(CommandName::Pause.check_allowed_to(&open, &proofs, &fields).is_err());
    }

    #[test]
    fn an_unknown_command_names_the_known_ones() {
        let message = CommandName::parse("dance").unwrap_err().message;
        assert!(
            message.contains("`dance`")
                && message.contains(
                    "export, forget, forget_preview, get, instance, list, name_entity, name_place, pause, picture, procedure, re"
                ),
            "{message}"
        );
    }
}

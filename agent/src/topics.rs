//! The one place where topics are made and read.

use std::fmt;

/// Maximum length of a name of a robot, source or entity, and of a request id, in bytes.
pub const MAX_NAME: usize = 256;

/// Maximum length of an MQTT topic, in bytes.
const MAX_TOPIC: usize = 65_535;

/// Second levels below the root that only Engram itself uses. No reply may go there.
const RESERVED: [&str; 11] =
    ["ask", "observe", "pose", "cmd", "status", "health", "instance", "recording", "event", "config", "homeassistant"];

/// A name that cannot be part of a topic or a memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name is empty.
    #[error("is empty")]
    Empty,
    /// The name is longer than [`MAX_NAME`].
    #[error("has {0} bytes, and {MAX_NAME} is the most")]
    TooLong(usize),
    /// MQTT gives these characters a meaning.
    #[error("contains {0:?}; the characters + # / and control characters cannot be in a name")]
    Character(char),
    /// `$` at the begin of a topic belongs to the broker.
    #[error("begins with `$`, which belongs to the broker")]
    Dollar,
}

/// Checks the name of a robot, a source, an entity or a topic level.
///
/// # Errors
/// See [`NameError`].
pub fn check_name(name: &str) -> Result<(), NameError> {
    if name.trim().is_empty() {
        return Err(NameError::Empty);
    }
    if name.len() > MAX_NAME {
        return Err(NameError::TooLong(name.len()));
    }
    if let Some(character) = name.chars().find(|c| matches!(c, '+' | '#' | '/') || c.is_control()) {
        return Err(NameError::Character(character));
    }
    if name.starts_with('$') {
        return Err(NameError::Dollar);
    }
    Ok(())
}

/// The topics of one robot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topics {
    root: String,
    robot: String,
}

/// Purpose of a topic that Engram listens to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inbound {
    /// A question.
    Ask,
    /// Observations.
    Observe,
    /// Poses of the robot.
    Pose,
    /// A command, by name.
    Command(String),
    /// Which memory serves the robot.
    Instance,
    /// Whether it is there.
    Status,
    /// A sign of life.
    Health,
    /// An answer to this program's own request, by its id.
    Answer(String),
}

/// Topics that Engram publishes on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outbound {
    /// `online`, `offline`, `stopped`; retained.
    Status,
    /// The health report; retained.
    Health,
    /// Which memory serves the robot; retained.
    Instance,
    /// `on` or `paused`; retained.
    Recording,
    /// Observations that `observe` refused.
    Rejected,
    /// Episodes that begin, grow and end.
    Episode,
    /// Persons that are recognised, named, merged and split.
    Entity,
    /// Procedures that are learnt, changed and given up.
    Procedure,
    /// Hours and days that were summarised.
    Gist,
    /// Steps of looking at recordings again.
    Reasoning,
    /// States for Home Assistant beside `health`; retained, if it is to discover this robot.
    HomeAssistant,
}

/// Which of the two connections, or which client of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientRole {
    /// Observations and `cmd/forget`.
    In,
    /// Everything else.
    Ask,
}

impl Topics {
    /// The topics of `robot` below `root`.
    ///
    /// # Errors
    /// If either cannot be a topic level.
    pub fn new(root: &str, robot: &str) -> Result<Self, NameError> {
        check_name(root)?;
        check_name(robot)?;
        Ok(Self { root: root.to_owned(), robot: robot.to_owned() })
    }

    /// Name of the robot.
    pub fn robot(&self) -> &str {
        &self.robot
    }

    fn leaf(&self, leaf: &str) -> String {
        [&self.root, &self.robot, leaf].join("/")
    }

    /// `…/ask`
    pub fn ask(&self) -> String {
        self.leaf("ask")
    }

    /// `…/observe`
    pub fn observe(&self) -> String {
        self.leaf("observe")
    }

    /// `…/pose`
    pub fn pose(&self) -> String {
        self.leaf("pose")
    }

    /// `…/cmd/<name>`
    ///
    /// # Errors
    /// If `name` cannot be a topic level.
    pub fn command(&self, name: &str) -> Result<String, NameError> {
        check_name(name)?;
        Ok([&self.root, &self.robot, "cmd", name].join("/"))
    }

    /// A filter for every command.
    pub fn commands(&self) -> String {
        self.leaf("cmd/+")
    }

    /// `…/answer/<request_id>`: where answers go by default.
    ///
    /// # Errors
    /// If the id cannot be a topic level.
    pub fn answer(&self, request_id: &str) -> Result<String, NameError> {
        check_name(request_id)?;
        Ok([&self.root, &self.robot, "answer", request_id].join("/"))
    }

    /// The topic of something that Engram publishes by itself.
    pub fn outbound(&self, what: Outbound) -> String {
        self.leaf(match what {
            Outbound::Status => "status",
            Outbound::Health => "health",
            Outbound::Instance => "instance",
            Outbound::Recording => "recording",
            Outbound::Rejected => "event/rejected",
            Outbound::Episode => "event/episode",
            Outbound::Entity => "event/entity",
            Outbound::Procedure => "event/procedure",
            Outbound::Gist => "event/gist",
            Outbound::Reasoning => "event/reasoning",
            Outbound::HomeAssistant => "homeassistant",
        })
    }

    /// Returns the purpose of a received topic; `None` for one of another robot or an unknown leaf.
    pub fn parse(&self, topic: &str) -> Option<Inbound> {
        let rest = topic.strip_prefix(self.root.as_str())?.strip_prefix('/')?;
        let leaf = rest.strip_prefix(self.robot.as_str())?.strip_prefix('/')?;
        match leaf {
            "ask" => Some(Inbound::Ask),
            "observe" => Some(Inbound::Observe),
            "pose" => Some(Inbound::Pose),
            "instance" => Some(Inbound::Instance),
            "status" => Some(Inbound::Status),
            "health" => Some(Inbound::Health),
            other => {
                if let Some(name) = other.strip_prefix("cmd/") {
                    (!name.contains('/')).then(|| Inbound::Command(name.to_owned()))
                } else {
                    let id = other.strip_prefix("answer/")?;
                    (!id.contains('/')).then(|| Inbound::Answer(id.to_owned()))
                }
            }
        }
    }

    /// The client id of a connection, stable over restarts of the same memory.
    pub fn client_id(&self, instance: &str, role: ClientRole) -> String {
        let role = match role {
            ClientRole::In => "in",
            ClientRole::Ask => "ask",
        };
        ["engram", &self.robot, instance, role].join("-")
    }
}

/// Why a reply topic is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplyTopicError {
    /// Not a topic that can be published to.
    #[error(
        "the reply topic is not a topic name: it must not be empty, begin with `$` or contain + # or control characters"
    )]
    NotATopic,
    /// Outside the allow-list.
    #[error(
        "replies to `{topic}` are not allowed; use a topic that begins with {allowed}, or ask the operator to add a prefix to mqtt.reply_prefixes"
    )]
    NotAllowed {
        /// The topic.
        topic: String,
        /// The allow-list in words.
        allowed: String,
    },
    /// One of Engram's own topics.
    #[error("replies to `{0}` are not allowed: engram itself listens or publishes there")]
    Reserved(String),
}

/// Which topics replies may go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyPolicy {
    root: String,
    prefixes: Vec<String>,
}

impl ReplyPolicy {
    /// Replies go to topics that begin with one of `prefixes` (default: the root's and `reply/`).
    pub fn new(root: &str, prefixes: Option<&[String]>) -> Self {
        let prefixes = match prefixes {
            Some(prefixes) => prefixes.to_vec(),
            None => vec![[root, "/"].concat(), "reply/".to_owned()],
        };
        Self { root: root.to_owned(), prefixes }
    }

    /// # Errors
    /// See [`ReplyTopicError`].
    pub fn check(&self, topic: &str) -> Result<(), ReplyTopicError> {
        let impossible = topic.is_empty()
            || topic.len() > MAX_TOPIC
            || topic.starts_with('$')
            || topic.chars().any(|c| matches!(c, '+' | '#') || c.is_control());
        if impossible {
            return Err(ReplyTopicError::NotATopic);
        }
        if !self.prefixes.iter().any(|prefix| topic.starts_with(prefix.as_str())) {
            return Err(ReplyTopicError::NotAllowed { topic: clip(topic), allowed: self.to_string() });
        }
        // Somebody who may ask must not make Engram speak where he may not: commands, observations, announcements.
        let mut levels = topic.strip_prefix(self.root.as_str()).and_then(|rest| rest.strip_prefix('/')).into_iter();
        let leaf = levels.next().and_then(|rest| rest.split('/').nth(1));
        if leaf.is_some_and(|leaf| RESERVED.contains(&leaf)) {
            return Err(ReplyTopicError::Reserved(clip(topic)));
        }
        Ok(())
    }
}

impl fmt::Display for ReplyPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.prefixes.is_empty() {
            return f.write_str("nothing: mqtt.reply_prefixes is empty");
        }
        for (index, prefix) in self.prefixes.iter().enumerate() {
            if index > 0 {
                f.write_str(" or ")?;
            }
            write!(f, "`{prefix}`")?;
        }
        Ok(())
    }
}

/// At most 128 characters of a topic that somebody else chose.
fn clip(topic: &str) -> String {
    topic.chars().take(128).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn topics() -> Topics {
        Topics::new("engram", "kitchen-1").unwrap()
    }

    #[test]
    fn what_is_made_is_read_back() {
        let topics = topics();
        assert_eq!(topics.ask(), "engram/kitchen-1/ask");
        assert_eq!(topics.parse(&topics.ask()), Some(Inbound::Ask));
        assert_eq!(topics.parse(&topics.observe()), Some(Inbound::Observe));
        assert_eq!(topics.parse(&topics.command("list").unwrap()), Some(Inbound::Command("list".to_owned())));
        assert_eq!(topics.parse(&topics.answer("q-17").unwrap()), Some(Inbound::Answer("q-17".to_owned())));
        assert_eq!(topics.parse(&topics.outbound(Outbound::Instance)), Some(Inbound::Instance));
    }

    #[test]
    fn topics_of_others_are_not_ours() {
        let topics = topics();
        for topic in ["engram/kitchen-12/ask", "engram/kitchen-1", "engramm/kitchen-1/ask", "engram/kitchen-1/cmd/a/b"]
        {
            assert_eq!(topics.parse(topic), None, "{topic}");
        }
    }

    #[test]
    fn names_with_a_meaning_in_mqtt_are_refused() {
        for name in ["", " ", "a/b", "a+", "#", "a\nb", "a\0", "$SYS"] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        assert!(check_name("Küche 1").is_ok());
        assert_eq!(check_name(&"x".repeat(257)), Err(NameError::TooLong(257)));
    }

    #[test]
    fn replies_go_only_where_they_may() {
        let policy = ReplyPolicy::new("engram", None);
        for topic in ["engram/kitchen-1/answer/q-1", "reply/phone", "engram/phone/inbox", "engram/phone"] {
            assert_eq!(policy.check(topic), Ok(()), "{topic}");
        }
        for topic in ["home/light/set", "engrams/x", "reply", "", "reply/#", "$SYS/broker"] {
            assert!(policy.check(topic).is_err(), "{topic}");
        }
    }

    #[test]
    fn a_reply_can_not_be_aimed_at_engrams_own_topics() {
        let policy = ReplyPolicy::new("engram", None);
        for leaf in
            ["ask", "observe", "pose", "cmd/forget", "status", "health", "instance", "recording", "event/episode"]
        {
            let topic = ["engram/other", leaf].join("/");
            assert!(matches!(policy.check(&topic), Err(ReplyTopicError::Reserved(_))), "{topic}");
        }
    }

    #[test]
    fn configured_prefixes_replace_the_default_ones() {
        let policy = ReplyPolicy::new("engram", Some(&["home/engram/".to_owned()]));
        assert_eq!(policy.check("home/engram/kitchen"), Ok(()));
        assert!(policy.check("reply/phone").is_err());
    }

    proptest! {
        #[test]
        fn any_accepted_name_survives_a_topic(name in "\\PC{1,40}") {
            if check_name(&name).is_ok() {
                let topics = Topics::new("engram", &name).unwrap();
                prop_assert_eq!(topics.parse(&topics.ask()), Some(Inbound::Ask));
                prop_assert_eq!(topics.parse(&topics.command(&name).unwrap()), Some(Inbound::Command(name)));
            }
        }
    }
}

//! The catalogue of tools. Names, arguments and annotations are a contract with every client: they only grow.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};

use super::arguments::{Holds, Parameter, schema};

/// Effect of a tool on the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// Adds to it.
    Adds,
    /// Removes from it for good.
    Destroys,
}

/// One tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// Which tool it is.
    pub tool: ToolName,
    /// Title for people.
    pub title: &'static str,
    /// Description for the model that chooses among tools.
    pub about: &'static str,
    /// Effect on the memory.
    pub effect: Effect,
    /// Its arguments.
    pub parameters: &'static [Parameter],
}

/// The tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolName {
    Ask,
    SearchMemory,
    ListEpisodes,
    GetEpisode,
    GetFacts,
    GetPersons,
    GetProcedure,
    NextStep,
    GetPicture,
    Observe,
    GetStatus,
    Forget,
}

const SINCE: Parameter = Parameter::may("since", Holds::Time, "Only what happened at or after this.");
const UNTIL: Parameter = Parameter::may("until", Holds::Time, "Only what happened at or before this.");

const NEAR: Parameter = Parameter::may(
    "near",
    Holds::Object,
    "Only what happened within a radius of a point on the robot's map, in metres, such as \
     {\"frame\": \"map\", \"x\": 2.5, \"y\": -1, \"radius\": 3}.",
);

/// All tools.
pub const TOOLS: [ToolSpec; 12] = [
    ToolSpec {
        name: "ask",
        tool: ToolName::Ask,
        title: "Ask the memory",
        about: "Answer a question from the robot's memory: who, what, where, when, how often, how something is done. \
                Returns the answer, the probability that it is right, and the evidence. `answer` is null where the \
                memory holds no evidence; then say so and do not guess.",
        effect: Effect::Reads,
        parameters: &[
            Parameter::must("question", Holds::Text, "The question in plain English words."),
            Parameter::may("options", Holds::Texts, "Answers to choose from; `choice` is then the index of one."),
            SINCE,
            UNTIL,
            NEAR,
            Parameter::may("limit", Holds::Count(3, 20), "Most items of evidence."),
        ],
    },
    ToolSpec {
        name: "search_memory",
        tool: ToolName::SearchMemory,
        title: "Search the memory",
        about: "Find remembered events that hold all of some words, in any of their forms, newest first, and count them. \
                Also \"red mug\" for words side by side, -sink without a word, mug near/5 sink, who:Anna, kind:action. \
                Where no event holds them all, `words` says how common each is, and `nearest_in_meaning` what comes close. \
                With `similar_to`, what is like an event or an episode, the most alike first. Use `ask` for a question.",
        effect: Effect::Reads,
        parameters: &[
            Parameter::may("query", Holds::Text, "The words, few and telling: blue mug, not a sentence."),
            Parameter::may("best", Holds::Flag, "Best matches first instead of the newest."),
            Parameter::may(
                "similar_to",
                Holds::Text,
                "Id of an event or an episode, such as ev-42 or ep-12, or picture:ev-42 for what looks like it; then without `best`.",
            ),
            SINCE,
            UNTIL,
            NEAR,
            Parameter::may("limit", Holds::Count(10, 50), "Most events."),
        ],
    },
    ToolSpec {
        name: "list_episodes",
        tool: ToolName::ListEpisodes,
        title: "List episodes",
        about: "List stretches of time with a summary each, newest first: what happened today, what was seen of a person.",
        effect: Effect::Reads,
        parameters: &[
            SINCE,
            UNTIL,
            Parameter::may("entity", Holds::Text, "Only episodes with this person or thing."),
            Parameter::may("place", Holds::Text, "Only episodes at this place."),
            NEAR,
            Parameter::may("limit", Holds::Count(10, 50), "Most episodes."),
            Parameter::may("cursor", Holds::Text, "The `next` of the page before."),
        ],
    },
    ToolSpec {
        name: "get_episode",
        tool: ToolName::GetEpisode,
        title: "Open an episode or an event",
        about: "Show the events of one episode in order, or one event as a whole. Name `episode` or `event`.",
        effect: Effect::Reads,
        parameters: &[
            Parameter::may("episode", Holds::Text, "Id of an episode, such as ep-12."),
            Parameter::may("event", Holds::Text, "Id of an event, such as ev-42."),
            Parameter::may("limit", Holds::Count(20, 100), "Most events."),
            Parameter::may("cursor", Holds::Text, "The `next` of the page before."),
        ],
    },
    ToolSpec {
        name: "get_facts",
        tool: ToolName::GetFacts,
        title: "Known facts",
        about: "List what is known about persons and things: places, properties, relations, deeds.",
        effect: Effect::Reads,
        parameters: &[
            Parameter::may(
                "about",
                Holds::Text,
                "Only facts that involve this person, thing or place, the best confirmed first.",
            ),
            Parameter::may("past", Holds::Flag, "Also facts that no longer hold."),
            Parameter::may("limit", Holds::Count(20, 100), "Most facts."),
        ],
    },
    ToolSpec {
        name: "get_persons",
        tool: ToolName::GetPersons,
        title: "Known persons and names",
        about: "List the persons known by face or voice, and the names that events mention, most frequent first.",
        effect: Effect::Reads,
        parameters: &[Parameter::may("limit", Holds::Count(20, 100), "Most persons, and most names.")],
    },
    ToolSpec {
        name: "get_procedure",
        tool: ToolName::GetProcedure,
        title: "How something is done",
        about: "Show how a task was done here: its usual steps in order. Without `goal` and `id`, list the known tasks.",
        effect: Effect::Reads,
        parameters: &[
            Parameter::may("goal", Holds::Text, "The task in similar words, such as make tea."),
            Parameter::may("id", Holds::Text, "Id of a procedure, such as p-7."),
            Parameter::may("without", Holds::Texts, "Objects, tools or steps that must not occur."),
            Parameter::may("with", Holds::Texts, "Objects, tools or steps that must occur."),
            Parameter::may("limit", Holds::Count(3, 20), "Most ways to do it, or most tasks."),
        ],
    },
    ToolSpec {
        name: "next_step",
        tool: ToolName::NextStep,
        title: "The next step of a task",
        about: "Say which step probably comes next in a task. The step GOAL means that nothing is left to do.",
        effect: Effect::Reads,
        parameters: &[
            Parameter::must("goal", Holds::Text, "The task in similar words, such as make tea."),
            Parameter::may("done", Holds::Texts, "The steps that are done, in order."),
            Parameter::may("limit", Holds::Count(3, 20), "Most steps."),
        ],
    },
    ToolSpec {
        name: "get_picture",
        tool: ToolName::GetPicture,
        title: "A picture of a moment",
        about: "Show what the camera saw at an event or at the begin of an episode, as an image. Name `event` or `episode`.",
        effect: Effect::Reads,
        parameters: &[
            Parameter::may("event", Holds::Text, "Id of an event, such as ev-42."),
            Parameter::may("episode", Holds::Text, "Id of an episode, such as ep-12."),
            Parameter::may("width", Holds::Count(640, 1280), "Most pixels across."),
        ],
    },
    ToolSpec {
        name: "observe",
        tool: ToolName::Observe,
        title: "Remember something",
        about: "Tell the memory something that was said, seen or done, so that it can be asked for later.",
        effect: Effect::Adds,
        parameters: &[
            Parameter::must("text", Holds::Text, "What was observed, in plain words, as a whole sentence."),
            Parameter::may(
                "kind",
                Holds::OneOf(&["text", "caption", "sound", "object", "entity", "action", "state"]),
                "What kind of observation: text (said or written, the default), caption (seen), action, and so on.",
            ),
            Parameter::may("entity", Holds::Text, "The person or thing that it is about, or who spoke."),
            Parameter::may("place", Holds::Text, "Where it was."),
            Parameter::may(
                "pose",
                Holds::Object,
                "Where it was on the robot's map, in metres, such as {\"frame\": \"map\", \"x\": 2.5, \"y\": -1}.",
            ),
            Parameter::may("at", Holds::Time, "When it was. Default: now."),
            Parameter::may("confidence", Holds::Share, "How sure you are."),
            Parameter::may("attributes", Holds::Object, "More about it, such as {\"task\": \"make tea\"}."),
            Parameter::may("source", Holds::Text, "Who says so. Default: mcp."),
            Parameter::may("id", Holds::Text, "Your own id for it; the same id at the same time corrects it."),
        ],
    },
    ToolSpec {
        name: "get_status",
        tool: ToolName::GetStatus,
        title: "State of the memory",
        about: "Show whether the robot's memory runs, what it holds, what its cameras and microphones do, and what is missing.",
        effect: Effect::Reads,
        parameters: &[],
    },
    ToolSpec {
        name: "forget",
        tool: ToolName::Forget,
        title: "Forget for good",
        about: "Forget a person or thing, whole episodes, or a span of time, for good. Without `confirm` it only shows what \
                would be forgotten: show that to the person, and confirm only if the person says so.",
        effect: Effect::Destroys,
        parameters: &[
            Parameter::may("entity", Holds::Text, "Name of the person or thing."),
            Parameter::may("episodes", Holds::Texts, "Ids of episodes, such as ep-12."),
            Parameter::may("since", Holds::Time, "Begin of the span."),
            Parameter::may("until", Holds::Time, "End of the span."),
            Parameter::may("confirm", Holds::Flag, "Really forget it. It cannot be undone."),
        ],
    },
];

/// The tool called `name`, if it is offered.
pub fn find(name: &str, forget: bool) -> Option<&'static ToolSpec> {
    offered(forget).find(|spec| spec.name == name)
}

/// The tools that are offered.
pub fn offered(forget: bool) -> impl Iterator<Item = &'static ToolSpec> {
    TOOLS.iter().filter(move |spec| forget || spec.tool != ToolName::Forget)
}

impl ToolSpec {
    /// Returns the description in the protocol's form.
    pub fn describe(&self) -> Tool {
        let reads = self.effect == Effect::Reads;
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(reads)
            .destructive(self.effect == Effect::Destroys)
            .idempotent(reads || self.effect == Effect::Destroys)
            .open_world(false);
        Tool::new(self.name, self.about, Arc::new(schema(self.parameters)))
            .with_title(self.title)
            .with_annotations(annotations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forget_is_offered_only_where_it_is_allowed() {
        assert!(find("forget", false).is_none());
        assert!(find("forget", true).is_some());
        assert_eq!(offered(false).count(), TOOLS.len() - 1);
    }

    #[test]
    fn only_forget_destroys_and_only_observe_adds() {
        for spec in &TOOLS {
            let annotations = spec.describe().annotations.unwrap();
            assert_eq!(annotations.destructive_hint, Some(spec.name == "forget"), "{}", spec.name);
            let writes = ["observe", "forget"].contains(&spec.name);
            assert_eq!(annotations.read_only_hint, Some(!writes), "{}", spec.name);
        }
    }

    #[test]
    fn every_tool_and_every_argument_is_described_for_the_model() {
        for spec in &TOOLS {
            assert!(spec.about.len() > 40 && spec.about.ends_with('.'), "{}", spec.name);
            for parameter in spec.parameters {
                assert!(parameter.about.ends_with('.'), "{}.{}", spec.name, parameter.name);
            }
        }
    }
}

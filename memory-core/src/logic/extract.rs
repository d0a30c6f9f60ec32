//! Extracts actions from events (NS-Mem 4.2.1, step 1), by rules for English.
//!
//! A told event of kind `action` is always an action. A caption contains one if somebody does something with things; speech
//! only if the speaker says what she is doing. Plans, wishes, questions and denials are no actions. In other languages actions
//! must be told.

use super::{Action, ActionOutcome, normalise};
use crate::{Event, Kind, Value};

/// Verbs of doing, in their base form.
const VERBS: &str = "add adjust apply arrange assemble attach bake beat bend blend boil bring brush build button call \
    carry change charge check chop clean clear climb close collect connect cook cool cover crack crush cut deliver dig dip \
    disconnect discard drag drain drill drink drop dry dust eat empty enter erase fasten feed fetch fill fix flip fold fry \
    glue grab grate grease greet grill grind hammer hand hang heat hold inflate insert inspect install iron kick knead \
    knock lay leave lift light load lock loosen measure melt mix mop mount move mow open pack paint park peel pick pin \
    place plant plug polish pour press prepare print pull pump push put raise read remove repair replace rest return \
    rinse roll rub scan scoop screw scrub seal season sew shake sharpen shave shut slice smooth soak spray spread \
    sprinkle squeeze stack start stick stir stop store stretch sweep switch take tape taste tear tie tighten toast toss \
    touch trim turn twist type unfold unlock unpack unplug unscrew use vacuum walk warm wash water wear whisk wipe wrap \
    write zip";

/// Past forms that no rule gives.
const IRREGULAR: &str = "beat:beat bent:bend brought:bring built:build cut:cut dug:dig drank:drink ate:eat fed:feed \
    ground:grind hung:hang held:hold laid:lay left:leave lit:light put:put read:read shook:shake shut:shut sewed:sew \
    spread:spread stuck:stick swept:sweep took:take tore:tear tied:tie wore:wear wrote:write";

/// Rooms: where an action takes place, as opposed to what it is done to.
const PLACES: &str = "kitchen bathroom bedroom garage garden yard office hall hallway corridor lab laboratory workshop \
    shop basement attic living-room dining-room room street park";

/// Words before a verb that make it no action that was done.
const UNDONE: [&str; 22] = [
    "not", "never", "no", "will", "would", "should", "could", "can", "cannot", "may", "might", "must", "want", "wants",
    "going", "try", "tries", "let", "lets", "please", "if", "to",
];

const ARTICLES: [&str; 12] = ["a", "an", "the", "his", "her", "their", "its", "my", "our", "your", "some", "this"];

/// The actions of an event, in the order of its text; none for most.
pub fn actions_of(event: &Event) -> Vec<Action> {
    match event.kind {
        Kind::Action => {
            let mut action = frame(event, String::new());
            // The step is the same for any actor.
            action.text = without_doer(&event.text, action.person.as_deref()).to_owned();
            action.named = true;
            vec![action]
        }
        Kind::Caption => sentences(&event.text).flat_map(|sentence| read_spoken(event, &sentence, false)).collect(),
        Kind::Text => sentences(&event.text).flat_map(|sentence| read_spoken(event, &sentence, true)).collect(),
        Kind::Sound | Kind::Object | Kind::Entity | Kind::State => Vec::new(),
    }
}

/// Removes the name of the actor from the begin of an action: "Ines stirs the glaze", told of Ines.
fn without_doer<'t>(text: &'t str, doer: Option<&str>) -> &'t str {
    let text = text.trim_start();
    let short = doer.and_then(|doer| doer.split_whitespace().next());
    let names = doer.into_iter().chain(short).chain(["The robot", "I", "We"]);
    let mut behind = names.filter_map(|name| {
        let (begin, rest) = text.split_at_checked(name.len())?;
        let alone = rest.starts_with(' ') && !rest.trim_start().is_empty();
        (alone && begin.to_lowercase() == name.to_lowercase()).then(|| rest.trim_start())
    });
    // "I am mopping", "Ines and Bo stir": not a name and what it does.
    let next = |rest: &&str| {
        let word = rest.split_whitespace().next().unwrap_or_default();
        !matches!(word, "and" | "am" | "is" | "are" | "have" | "has" | "will" | "was" | "were") && !word.ends_with(',')
    };
    behind.find(next).unwrap_or(text)
}

/// An action with what the event's attributes say about it.
fn frame(event: &Event, text: String) -> Action {
    let names = |keys: &[&str]| -> Vec<String> {
        let mut names = Vec::new();
        for value in keys.iter().filter_map(|key| event.attributes.get(*key)) {
            value.for_each_text(&mut |text| {
                if !normalise(text).is_empty() {
                    names.push(text.to_owned());
                }
            });
        }
        names
    };
    let first = |keys: &[&str]| names(keys).into_iter().next();
    let failed =
        ["success", "succeeded", "ok"].iter().any(|key| event.attributes.get(*key) == Some(&Value::Bool(false)))
            || names(&["outcome", "result", "status"])
                .iter()
                .any(|word| matches!(normalise(word).as_str(), "failed" | "failure" | "fail" | "aborted" | "error"));
    let mut action = Action::new(event.id, text, event.span);
    action.source.clone_from(&event.source);
    action.person = event.entity.clone().or_else(|| first(&["person", "agent", "actor"]));
    action.session = first(&["session"]);
    action.goal = first(&["task", "goal"]);
    action.objects = names(&["object", "objects"]);
    action.tools = names(&["tool", "tools", "instrument"]);
    action.places = names(&["place", "places", "location", "room"]);
    action.outcome = if failed { ActionOutcome::Failed } else { ActionOutcome::Done };
    action.named = false;
    action
}

/// Sentences without questions, each as lower-case words.
fn sentences(text: &str) -> impl Iterator<Item = Vec<String>> + '_ {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | ';' | '\n');
    text.split_inclusive(ends).filter(|sentence| !sentence.trim_end().ends_with('?')).map(|sentence| {
        let apart = sentence.to_lowercase().replace("'m ", " am ").replace("'re ", " are ").replace("n't", " not");
        let words = apart.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '\'' || c == ','));
        let words = words.flat_map(|word| match word.strip_suffix(',') {
            Some(word) => vec![word.to_owned(), ",".to_owned()],
            None => vec![word.to_owned()],
        });
        words.filter(|word| !word.is_empty()).collect()
    })
}

/// The actions that a sentence says somebody does; `aloud`: the speaker must say it of herself, of now.
fn read_spoken(event: &Event, words: &[String], aloud: bool) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut clause_start = 0;
    while let Some((verb, base, progressive)) = next_verb(words, clause_start) {
        let before: Vec<&str> = words[clause_start..verb].iter().map(String::as_str).collect();
        let end = clause_end(words, verb + 1);
        let done = !before.iter().any(|word| UNDONE.contains(word));
        let own =
            before.iter().any(|word| matches!(*word, "i" | "we")) && before.iter().any(|w| matches!(*w, "am" | "are"));
        let follows = !actions.is_empty();
        let subject = follows || event.entity.is_some() || before.iter().any(|word| !ARTICLES.contains(word));
        if done && if aloud { progressive && (own || follows) } else { subject } {
            actions.push(read(event, base, &words[verb + 1..end]));
        } else if aloud {
            break;
        }
        clause_start = end;
    }
    actions
}

/// The next word that is a form of a verb of doing: its place, its base form, and whether it ends in -ing.
fn next_verb(words: &[String], from: usize) -> Option<(usize, &'static str, bool)> {
    let mut found = words.iter().enumerate().skip(from);
    found.find_map(|(at, word)| {
        let noun = at > from && ARTICLES.contains(&words[at - 1].as_str());
        let (base, progressive) = base_form(word).filter(|_| !noun)?;
        Some((at, base, progressive))
    })
}

fn base_form(word: &str) -> Option<(&'static str, bool)> {
    let known = |stem: &str| VERBS.split_whitespace().find(|verb| *verb == stem);
    let stems = |stem: &str| {
        let mut doubled = stem.chars().rev();
        let single = doubled.next().is_some_and(|last| doubled.next() == Some(last));
        let single = single.then(|| &stem[..stem.len() - 1]).and_then(known);
        known(stem)
            .or_else(|| known(&format!("{stem}e")))
            .or(single)
            .or_else(|| known(&format!("{}y", stem.strip_suffix('i')?)))
    };
    if let Some(stem) = word.strip_suffix("ing") {
        return stems(stem).map(|base| (base, true));
    }
    let past = IRREGULAR.split_whitespace().find_map(|pair| pair.split_once(':').filter(|(form, _)| *form == word));
    if let Some((_, base)) = past {
        return known(base).map(|base| (base, false));
    }
    let other = |suffix| word.strip_suffix(suffix).and_then(stems);
    other("ed").or_else(|| other("es")).or_else(|| other("s")).map(|base| (base, false))
}

/// Returns the end of a verb's clause: before the next verb that "and", "then", "while" or a comma leads to.
fn clause_end(words: &[String], from: usize) -> usize {
    let joins = |word: &str| matches!(word, "and" | "then" | "while" | "before" | "after" | ",");
    (from..words.len()).find(|at| joins(&words[*at])).unwrap_or(words.len())
}

/// An action of a verb and the words after it: "cut", "the apple with a knife in the kitchen".
fn read(event: &Event, verb: &str, rest: &[String]) -> Action {
    let mut action = frame(event, String::new());
    let mut kept: Vec<&str> = vec![verb];
    let mut object: Vec<&str> = Vec::new();
    let mut at = 0;
    let mut in_object = true;
    while at < rest.len() {
        let word = rest[at].as_str();
        let end = (at + 1..rest.len()).find(|next| is_preposition(&rest[*next])).unwrap_or(rest.len());
        let phrase = noun_phrase(&rest[at + 1..end]);
        match word {
            "with" | "using" if !phrase.is_empty() => {
                action.tools.push(phrase);
                at = end;
                continue;
            }
            "in" | "at" if PLACES.split_whitespace().any(|place| phrase.replace(' ', "-").ends_with(place)) => {
                action.places.push(phrase);
                at = end;
                continue;
            }
            _ => {}
        }
        in_object &= !is_preposition(word);
        if in_object && !ARTICLES.contains(&word) {
            object.push(word);
        }
        kept.push(word);
        at += 1;
    }
    if !object.is_empty() {
        action.objects.push(object.join(" "));
    }
    action.text = kept.join(" ");
    action
}

fn is_preposition(word: &str) -> bool {
    matches!(
        word,
        "with"
            | "using"
            | "in"
            | "at"
            | "on"
            | "into"
            | "onto"
            | "from"
            | "to"
            | "off"
            | "over"
            | "under"
            | "for"
            | "out"
            | "up"
            | "down"
            | "near"
            | "by"
    )
}

fn noun_phrase(words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !ARTICLES.contains(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::actions_of;
    use crate::{Attributes, EpisodeId, Event, EventId, Kind, Modality, Origin, TimeSpan, Timestamp, Value};

    fn event(kind: Kind, text: &str) -> Event {
        let at = Timestamp::from_micros(0);
        Event {
            id: EventId(1),
            episode: EpisodeId(1),
            origin: Origin::Told,
            sender_id: None,
            kind,
            modality: Modality::Visual,
            text: text.to_owned(),
            span: TimeSpan::new(at, at),
            stream: None,
            source: "head".to_owned(),
            entity: None,
            attributes: Attributes::new(),
            confidence: 1.0,
            media: None,
            received: at,
            pose: None,
        }
    }

    fn texts(kind: Kind, text: &str) -> Vec<String> {
        actions_of(&event(kind, text)).into_iter().map(|action| action.text).collect()
    }

    #[test]
    fn whoever_does_it_it_is_the_same_step() {
        let step = |entity: &str, text: &str| {
            let event = Event { entity: Some(entity.to_owned()), ..event(Kind::Action, text) };
            actions_of(&event).remove(0).text
        };
        assert_eq!(step("Thandiwe", "Thandiwe stirs the glaze."), "stirs the glaze.");
        assert_eq!(step("Ms Okonjo", "Ms Okonjo stirs the glaze."), "stirs the glaze.");
        assert_eq!(step("Sven Olsen", "Sven stirs the glaze."), "stirs the glaze.");
        assert_eq!(step("robot", "I stir the glaze."), "stir the glaze.");
        assert_eq!(step("Sven", "stir the glaze"), "stir the glaze");
        assert_eq!(step("Sven", "Sven and Oda stir the glaze."), "Sven and Oda stir the glaze.");
        assert_eq!(step("Sven", "Svenja stirs the glaze."), "Svenja stirs the glaze.");
    }

    #[test]
    fn a_told_action_is_taken_as_it_is_with_its_attributes() {
        let mut told = event(Kind::Action, "Cut the apple");
        told.entity = Some("Anna".to_owned());
        for (name, value) in [("session", "s1"), ("task", "make salad"), ("tool", "knife"), ("outcome", "failed")] {
            told.attributes.insert(name.to_owned(), Value::Text(value.to_owned()));
        }
        let action = actions_of(&told).remove(0);
        assert_eq!((action.text.as_str(), action.person.as_deref()), ("Cut the apple", Some("Anna")));
        assert_eq!((action.session.as_deref(), action.goal.as_deref()), (Some("s1"), Some("make salad")));
        assert_eq!((action.tools, action.outcome.is_done(), action.named), (vec!["knife".to_owned()], false, true));
    }

    #[test]
    fn captions_hold_what_somebody_does() {
        for (caption, expected) in [
            ("Anna is cutting the apple with a knife in the kitchen.", &["cut the apple"][..]),
            ("A man pours water into the kettle and stirs the tea", &["pour water into the kettle", "stir the tea"]),
            (
                "The robot opened the fridge, took the milk and closed the fridge.",
                &["open the fridge", "take the milk", "close the fridge"],
            ),
            ("A red cup on the table", &[]),
            ("A woman is not cutting the bread", &[]),
            ("Anna wants to open the window", &[]),
        ] {
            assert_eq!(texts(Kind::Caption, caption), expected, "{caption}");
        }
        let action =
            actions_of(&event(Kind::Caption, "Anna is cutting the red apple with a knife in the kitchen")).remove(0);
        assert_eq!(
            (action.objects, action.tools, action.places),
            (vec!["red apple".to_owned()], vec!["knife".to_owned()], vec!["kitchen".to_owned()])
        );
    }

    #[test]
    fn speech_holds_only_what_the_speaker_is_doing() {
        assert_eq!(texts(Kind::Text, "I'm boiling the water now"), ["boil the water now"]);
        for idle in
            ["Can you open the door?", "He cuts the bread", "I will wash the cup", "Please close the window", "Hello"]
        {
            assert_eq!(texts(Kind::Text, idle), Vec::<String>::new(), "{idle}");
        }
        assert!(texts(Kind::Sound, "knocking on the door").is_empty());
    }
}

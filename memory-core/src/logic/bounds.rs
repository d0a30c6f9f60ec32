//! How long what an action says may be. Everything that is learnt goes into rows with a ceiling (`store/envelope`), and what
//! is told has 64 KiB for texts and for attributes: so actions are cut as they come in, before anything depends on them.
//!
//! The rule: a text keeps 512 bytes and a name 256, cut at a character and marked with `…`; a session keeps apart from
//! others by a checksum at its end; an action names 16 objects, tools and places each; a procedure keeps 128 KiB of
//! different names. Cutting again changes nothing, so that a replay of what was kept gives what was learnt.

use std::borrow::Cow;

use super::Action;

/// Maximum length of the text of an action, in bytes.
const MAX_TEXT_BYTES: usize = 512;
/// Maximum length of the name of a person, a thing, a goal or a session, in bytes.
const MAX_NAME_BYTES: usize = 256;
/// Maximum number of objects, of tools and of places of one action.
const MAX_THINGS: usize = 16;
/// Bytes of different names that a procedure keeps. Names of things leave room for persons, sources and goals.
pub(super) const ALL_NAMES: usize = 128 << 10;
/// See [`ALL_NAMES`].
pub(super) const NAMES_OF_THINGS: usize = 96 << 10;
/// Bytes of a name beside its text: its length, its count, its role.
pub(super) const NAME_OVERHEAD: usize = 8;
/// Most wordings of a step; one more is a step of its own.
pub(super) const WORDINGS: usize = 64;
/// Most ways of writing a wording that are kept as they were told.
pub(super) const SPELLINGS: usize = 4;

/// The action within its bounds.
pub(super) fn within(action: &Action) -> Cow<'_, Action> {
    let fits = |name: &String| name.len() <= MAX_NAME_BYTES;
    let things = [&action.objects, &action.tools, &action.places];
    let names = [&action.person, &action.session, &action.goal].into_iter().flatten().chain([&action.source]);
    if action.text.len() <= MAX_TEXT_BYTES
        && names.chain(things.into_iter().flatten()).all(fits)
        && things.iter().all(|things| things.len() <= MAX_THINGS)
    {
        return Cow::Borrowed(action);
    }
    let names = |names: &[String]| names.iter().take(MAX_THINGS).map(|one| name(one).into_owned()).collect();
    let one = |told: &Option<String>| told.as_deref().map(|told| name(told).into_owned());
    Cow::Owned(Action {
        text: cut(&action.text, MAX_TEXT_BYTES).into_owned(),
        source: name(&action.source).into_owned(),
        person: one(&action.person),
        session: action.session.as_deref().map(session),
        goal: one(&action.goal),
        objects: names(&action.objects),
        tools: names(&action.tools),
        places: names(&action.places),
        ..*action
    })
}

/// A name within its bounds.
pub(super) fn name(text: &str) -> Cow<'_, str> {
    cut(text, MAX_NAME_BYTES)
}

fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", head(text, most - '…'.len_utf8())))
}

/// Two long names that begin alike are two sessions.
fn session(text: &str) -> String {
    if text.len() <= MAX_NAME_BYTES {
        return text.to_owned();
    }
    let sum = format!("…{:08x}", crc32fast::hash(text.as_bytes()));
    format!("{}{sum}", head(text, MAX_NAME_BYTES - sum.len()))
}

/// Returns as many whole characters as fit.
fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventId, TimeSpan, Timestamp};

    #[test]
    fn what_is_too_long_is_cut_once_and_sessions_stay_apart() {
        let at = Timestamp::from_micros(0);
        let mut action = Action::new(EventId(1), "ü".repeat(40_000), TimeSpan::new(at, at));
        action.session = Some("s".repeat(1_000));
        action.goal = Some("g".repeat(1_000));
        action.tools = vec!["t".repeat(300); 500];
        let bounded = within(&action).into_owned();
        assert!(bounded.text.len() <= MAX_TEXT_BYTES && bounded.text.ends_with("ü…"), "{}", bounded.text);
        assert_eq!((bounded.tools.len(), bounded.tools[0].len()), (MAX_THINGS, MAX_NAME_BYTES));
        assert_eq!(bounded.goal.as_ref().map(String::len), Some(MAX_NAME_BYTES));
        assert!(matches!(within(&bounded), Cow::Borrowed(_)), "cutting again changes nothing");
        action.session = Some(format!("{}t", "s".repeat(999)));
        assert_ne!(within(&action).session, bounded.session);
    }
}

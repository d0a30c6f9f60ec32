//! Claims of a remark about a thing: it is unavailable, it is available again, or where one can be had.

use super::grammar::{join_words, match_pattern, split_clauses};

/// A claim about a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ThingClaim {
    /// The thing is broken, missing or used up.
    Lacking(String),
    /// The thing can be used again.
    Restored(String),
    /// Somebody or some place has one.
    Offer(String),
}

/// States in which a thing is unusable.
const UNUSABLE_STATES: &str = "(broken|defective|cracked|shattered|smashed|damaged|dirty|missing|lost|gone|empty|unavailable|occupied|\
                       finished|stolen|dead|torn|blocked|closed|faulty|ruined|spoiled|rotten|out)";
/// States in which a thing is usable again.
const USABLE_STATES: &str =
    "(repaired|fixed|back|found|available|working|clean|cleaned|replaced|refilled|mended|full|ready|usable|fine|ok)";
const STATE_VERBS: &str = "(is|are|was|were|got|became|'s|looks|seems)";
const STATE_ADVERBS: &str = "[now|still|completely|all|quite|currently|unfortunately|already|totally]";
const SPEAKERS: &str = "(i|we|he|she|they|you)";

/// Returns the claims of a text, clause by clause.
pub(super) fn extract_claims(said: &str) -> Vec<ThingClaim> {
    split_clauses(said)
        .iter()
        .flat_map(|clause| clause.split(|word| word == "but" || word == "so"))
        .filter_map(clause_claim)
        .collect()
}

/// Returns the claim of one clause.
pub(super) fn clause_claim(clause: &[String]) -> Option<ThingClaim> {
    let from = clause.iter().take_while(|word| LINK_WORDS.contains(&word.as_str())).count();
    let clause = &clause[from..];
    let found = |patterns: &[String], at: usize| {
        patterns.iter().find_map(|pattern| match_pattern(pattern, clause)).and_then(|found| thing_name(found[at]))
    };
    let lacking = [
        format!("there {STATE_VERBS} no [more] * [left]"),
        format!("there {STATE_VERBS} not [a|an|any] * [left]"),
        format!("{SPEAKERS} (have|has|had|got) no [more] * [left]"),
        format!("{SPEAKERS} (do|does|did) not have [a|an|any|the] * [left]"),
        format!("{SPEAKERS} [have|has] (ran|run|are|am|is) out of *"),
        format!("{SPEAKERS} (can|could) not (find|use) [a|an|any|the] *"),
        format!("{SPEAKERS} [have|has] (broke|lost|dropped|broken) [a|an|the] *"),
        "no [more] * [left]".to_owned(),
        "out of *".to_owned(),
    ];
    if let Some(thing) = found(&lacking, 0) {
        return Some(ThingClaim::Lacking(thing));
    }
    let not_there = [
        format!(
            "* {STATE_VERBS} {STATE_ADVERBS} not (available|there|here|working|clean|usable) [anymore|now|today|yet]"
        ),
        "* (do|does|did) not work [anymore|now|today|any] [more]".to_owned(),
        "* [has|have] (broke|stopped) [working|down]".to_owned(),
    ];
    if let Some(thing) = found(&not_there, 0) {
        return Some(ThingClaim::Lacking(thing));
    }
    let restored = [
        format!("* {STATE_VERBS} {STATE_ADVERBS} {USABLE_STATES} [again|now|today]"),
        format!("* (has|have) been {USABLE_STATES} [again|now]"),
        "* (works|work) [again|now]".to_owned(),
        format!(
            "{SPEAKERS} [have|has] (repaired|fixed|found|cleaned|refilled|bought|mended) [a|an|the|new|another|some] *"
        ),
    ];
    if let Some(thing) = found(&restored, 0) {
        return Some(ThingClaim::Restored(thing));
    }
    let useless = [
        format!("* {STATE_VERBS} {STATE_ADVERBS} {UNUSABLE_STATES} [again|now|today|too]"),
        format!("* (has|have) been {UNUSABLE_STATES}"),
        format!("* {STATE_VERBS} {STATE_ADVERBS} (used|taken) [up]"),
        format!("* {STATE_VERBS} {STATE_ADVERBS} (in|out) (use|of) [order]"),
    ];
    if let Some(thing) = found(&useless, 0) {
        return Some(ThingClaim::Lacking(thing));
    }
    let offers = [
        "* (sells|sell|offers|stocks|lends|rents|keeps) [a|an|some|new|fresh|cheap|many] *",
        "* (has|have) [a|an|some|new|fresh|cheap|many|spare|another] *",
        "* (can|could|may) (borrow|buy|get|find|have) [a|an|some|new|another|the] *",
    ];
    if let Some(found) = offers.iter().find_map(|pattern| match_pattern(pattern, clause)) {
        return thing_name(found[1]).map(ThingClaim::Offer);
    }
    let there = ["there (is|are) [a|an|some|another|still|also] *", "(another|spare) * (is|are) *"];
    there
        .iter()
        .find_map(|pattern| match_pattern(pattern, clause))
        .and_then(|found| thing_name(found[0]))
        .map(ThingClaim::Offer)
}

/// Words that link a clause to another and have no content.
const LINK_WORDS: [&str; 14] =
    ["and", "but", "if", "when", "because", "since", "as", "now", "that", "so", "oh", "well", "sorry", "while"];

/// Words before the name of a thing.
const DETERMINERS: [&str; 18] = [
    "the", "a", "an", "my", "our", "your", "his", "her", "their", "some", "any", "this", "that", "one", "new", "fresh",
    "spare", "another",
];

/// Words that start a phrase of place, time or owner.
const PLACE_STARTS: [&str; 17] = [
    "at",
    "in",
    "on",
    "from",
    "of",
    "by",
    "near",
    "under",
    "behind",
    "next",
    "here",
    "there",
    "downstairs",
    "upstairs",
    "left",
    "today",
    "with",
];

/// Returns the name of a thing without its article and place.
pub(super) fn thing_name(words: &[String]) -> Option<String> {
    let from = words.iter().take_while(|word| DETERMINERS.contains(&word.as_str())).count();
    let rest = &words[from..];
    let name: &[String] = &rest[..rest.iter().take_while(|word| !PLACE_STARTS.contains(&word.as_str())).count()];
    (!name.is_empty() && name.len() <= 5).then(|| join_words(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_say_what_is_lacking_what_is_back_and_where_to_get_it() {
        use ThingClaim::{Lacking, Offer, Restored};
        for (said, expected) in [
            ("The bowl at home is broken.", Lacking("bowl".into())),
            ("the bowl's broken", Lacking("bowl".into())),
            ("Our oven doesn't work.", Lacking("oven".into())),
            ("There is no milk left", Lacking("milk".into())),
            ("We have no more eggs", Lacking("eggs".into())),
            ("I can't find the big spoon", Lacking("big spoon".into())),
            ("We ran out of tea bags.", Lacking("tea bags".into())),
            ("the kettle is not working", Lacking("kettle".into())),
            ("The bread is all gone", Lacking("bread".into())),
            ("The bowl has been repaired.", Restored("bowl".into())),
            ("The kettle works again", Restored("kettle".into())),
            ("I bought a new bowl", Restored("bowl".into())),
            ("A store downstairs sells bowls, just one minute away.", Offer("bowls".into())),
            ("the neighbour has a spare bowl", Offer("bowl".into())),
            ("There is a bowl in the cupboard", Offer("bowl".into())),
            ("You can borrow a bowl from Mia", Offer("bowl".into())),
        ] {
            assert_eq!(extract_claims(said).first(), Some(&expected), "{said}");
        }
        for said in ["Good morning!", "I like bowls.", "What is in the bowl?", "Jack chops the fruits.", ""] {
            assert_eq!(extract_claims(said), [], "{said}");
        }
    }
}

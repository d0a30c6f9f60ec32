//! Sentences, words and noun phrases, as far as the rules of extraction need them.

use crate::AnchorId;
use crate::index::stem;

/// One word of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentenceWord {
    /// Spelling in the text, without a split-off contraction.
    pub text: String,
    /// The word in lower case.
    pub lower: String,
    /// Whether it had `'s`, for an owner or for "is".
    pub apostrophe_s: bool,
    /// Whether a comma or another mark stands before it.
    pub pause: bool,
}

impl SentenceWord {
    fn new(text: &str, pause: bool) -> Self {
        let text = text.char_indices().nth(MAX_WORD_CHARS).map_or(text, |(end, _)| &text[..end]);
        Self { text: text.into(), lower: text.to_lowercase(), apostrophe_s: false, pause }
    }

    pub fn is(&self, word: &str) -> bool {
        self.lower == word
    }

    pub fn is_one_of(&self, words: &[&str]) -> bool {
        words.contains(&self.lower.as_str())
    }

    /// Whether it is written like a name.
    pub fn is_capitalised(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase) && !self.is("i")
    }
}

/// A sentence and whether it asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentenceText {
    pub tokens: Vec<SentenceWord>,
    pub asks: bool,
}

/// Maximum length of a word, in characters; longer ones are truncated. They are numbers or keys, and the rows that hold what is
/// learnt from them have a limited length.
const MAX_WORD_CHARS: usize = 64;
/// Maximum number of words read from a sentence. The rules read simple sentences.
const MAX_SENTENCE_WORDS: usize = 60;
/// Maximum number of sentences read from a text.
const MAX_SENTENCES: usize = 64;

/// The sentences of a text.
pub(crate) fn sentences(text: &str) -> Vec<SentenceText> {
    let mut sentences = Vec::new();
    let mut from = 0;
    for (at, mark) in text.match_indices(['.', '!', '?', ';', '\n']) {
        let next = text[at + mark.len()..].chars().next();
        // A mark inside of a number or an abbreviation ends nothing.
        if mark == "." && next.is_some_and(|next| !next.is_whitespace() && !matches!(next, '"' | '”' | ')')) {
            continue;
        }
        push(&mut sentences, &text[from..at], mark == "?");
        from = at + mark.len();
    }
    push(&mut sentences, &text[from..], false);
    sentences.truncate(MAX_SENTENCES);
    sentences
}

fn push(sentences: &mut Vec<SentenceText>, text: &str, asks: bool) {
    let tokens = tokens(text);
    if !tokens.is_empty() && tokens.len() <= MAX_SENTENCE_WORDS {
        sentences.push(SentenceText { tokens, asks });
    }
}

/// The words of a sentence; contractions are taken apart.
pub(crate) fn tokens(text: &str) -> Vec<SentenceWord> {
    let text = text.replace(['’', '‘'], "'");
    let mut tokens: Vec<SentenceWord> = Vec::new();
    let mut pause = false;
    let mut rest = text.as_str();
    while let Some(start) = rest.find(char::is_alphanumeric) {
        pause |= rest[..start].contains([',', ':', '(', ')', '"', '“', '”', '–', '—']);
        let tail = &rest[start..];
        let inner = |at: usize, c: char| {
            let next = tail[at + c.len_utf8()..].chars().next().is_some_and(char::is_alphanumeric);
            next && (matches!(c, '\'' | '-' | '%') || c == '.' && tail[..at].ends_with(|c: char| c.is_ascii_digit()))
        };
        let end =
            tail.char_indices().find(|&(at, c)| !c.is_alphanumeric() && !inner(at, c)).map_or(tail.len(), |x| x.0);
        let percent = usize::from(tail[end..].starts_with('%'));
        take_apart(&tail[..end + percent], pause, &mut tokens);
        pause = false;
        rest = &tail[end + percent..];
    }
    tokens
}

fn take_apart(word: &str, pause: bool, tokens: &mut Vec<SentenceWord>) {
    let Some((stem, ending)) = word.rsplit_once('\'') else {
        match word {
            "cannot" => tokens.extend([SentenceWord::new("can", pause), SentenceWord::new("not", false)]),
            _ => tokens.push(SentenceWord::new(word, pause)),
        }
        return;
    };
    let lower = ending.to_lowercase();
    let (first, second) = match lower.as_str() {
        "s" => {
            let apostrophe_s = true;
            tokens.push(SentenceWord { apostrophe_s, ..SentenceWord::new(stem, pause) });
            return;
        }
        "t" => (stem.strip_suffix(['n', 'N']).filter(|rest| !rest.is_empty()).unwrap_or(stem), "not"),
        "m" => (stem, "am"),
        "re" => (stem, "are"),
        "ve" => (stem, "have"),
        "ll" => (stem, "will"),
        "d" => (stem, "would"),
        _ => (word, ""),
    };
    let first = match first.to_lowercase().as_str() {
        "ca" => "can",
        "wo" => "will",
        _ => first,
    };
    tokens.push(SentenceWord::new(first, pause));
    if !second.is_empty() {
        tokens.push(SentenceWord::new(second, false));
    }
}

/// A thing or a person, as a sentence names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(crate) struct Noun {
    /// Lookup key: the stem of the head word; of a name, of the first word.
    pub head: String,
    /// The stems of all its words but articles, in their order.
    pub key: String,
    /// Displayed form, without an article.
    pub shown: String,
    /// Whether it is a name.
    pub name: bool,
}

impl Noun {
    /// A name as it was told: "Anna", "front door".
    pub fn named(name: &str) -> Option<Self> {
        let tokens = tokens(name);
        let words: Vec<&SentenceWord> =
            tokens.iter().filter(|token| !token.is_one_of(ARTICLES)).take(MAX_NOUN_WORDS).collect();
        Self::from_words(&words, None)
    }

    /// Creates the noun of a person whose name is not known, from the id.
    pub fn heard(person: AnchorId) -> Self {
        let id = person.to_string();
        Self { head: id.clone(), key: id.clone(), shown: id, name: true }
    }

    /// Creates a noun from its words and its owner.
    pub fn from_words(words: &[&SentenceWord], owner: Option<&Noun>) -> Option<Self> {
        let last = words.last()?;
        let name = words.iter().all(|word| word.is_capitalised());
        let stems: Vec<String> = words.iter().map(|word| stem(&word.lower)).collect();
        let head = if name { stems[0].clone() } else { stem(&last.lower) };
        let mut key = stems.join(" ");
        let mut shown = String::new();
        for word in words {
            if !shown.is_empty() {
                shown.push(' ');
            }
            shown.push_str(&word.text);
            if word.apostrophe_s {
                shown.push_str("'s");
            }
        }
        if let Some(owner) = owner {
            key = format!("{} {key}", owner.key);
            shown = format!("{}'s {shown}", owner.shown);
        }
        Some(Self { head, key, shown, name })
    }

    /// Whether `other` names it, maybe more precisely: "the blue mug" names a mug, and "the kitchen table" no kitchen.
    pub fn is_named_by(&self, other: &Self) -> bool {
        self.head == other.head && other.covers(self)
    }

    /// Whether it names everything that `other` names, and maybe more precisely.
    pub fn covers(&self, other: &Self) -> bool {
        other.key.split(' ').all(|word| self.key.split(' ').any(|own| own == word))
    }
}

/// Maximum number of words in a noun phrase.
const MAX_NOUN_WORDS: usize = 5;

pub(crate) const ARTICLES: &[&str] =
    &["the", "a", "an", "this", "that", "these", "those", "some", "another", "any", "all", "both"];
pub(crate) const OWNERS: &[&str] = &["my", "his", "her", "its", "our", "their", "your"];
pub(crate) const PRONOUNS: &[&str] = &[
    "i",
    "me",
    "we",
    "us",
    "you",
    "he",
    "him",
    "she",
    "her",
    "it",
    "they",
    "them",
    "someone",
    "somebody",
    "anyone",
    "anybody",
    "everyone",
    "everybody",
    "nobody",
    "something",
    "anything",
    "everything",
    "nothing",
    "one",
    "there",
    "here",
    "mine",
    "hers",
    "yours",
    "who",
    "what",
    "which",
    "that",
    "this",
    "these",
    "those",
];
/// Words that begin a phrase of place.
pub(crate) const PLACE_WORDS: &[&str] = &[
    "in",
    "on",
    "at",
    "under",
    "behind",
    "inside",
    "near",
    "beside",
    "between",
    "outside",
    "above",
    "below",
    "beneath",
    "underneath",
    "into",
    "onto",
    "opposite",
    "next",
    "over",
    "by",
    "upstairs",
    "downstairs",
    "against",
    "within",
    "to",
];
/// Words that end a noun phrase.
const NOUN_PHRASE_ENDS: &[&str] = &[
    "and",
    "but",
    "or",
    "because",
    "so",
    "then",
    "when",
    "while",
    "after",
    "before",
    "if",
    "which",
    "who",
    "that",
    "is",
    "are",
    "was",
    "were",
    "am",
    "be",
    "been",
    "has",
    "have",
    "had",
    "will",
    "would",
    "can",
    "could",
    "should",
    "do",
    "does",
    "did",
    "not",
    "from",
    "with",
    "for",
    "of",
    "again",
    "now",
    "today",
    "yesterday",
    "tomorrow",
    "tonight",
    "already",
    "just",
    "still",
    "back",
    "away",
    "down",
    "up",
    "off",
    "out",
    "last",
    "ago",
    "there",
    "here",
    "too",
    "also",
    "really",
    "very",
    "always",
    "never",
    "once",
    "twice",
    "since",
    "until",
    "about",
    "as",
    "than",
    "anymore",
    "any",
    "this",
    "every",
    "yet",
    "ever",
    "most",
    "recently",
];

/// The words of a noun phrase from `from`, its articles left out, and where it ends. Words before it name an owner.
pub(crate) fn noun_words(tokens: &[SentenceWord], from: usize) -> (Vec<&SentenceWord>, usize) {
    let mut at = from;
    while tokens.get(at).is_some_and(|token| token.is_one_of(ARTICLES) || token.is_one_of(OWNERS)) {
        at += 1;
    }
    let mut words = Vec::new();
    while let Some(token) = tokens.get(at) {
        let first = words.is_empty();
        if !first && token.pause || words.len() == MAX_NOUN_WORDS {
            break;
        }
        if token.is_one_of(NOUN_PHRASE_ENDS)
            || token.is_one_of(PLACE_WORDS)
            || token.is_one_of(PRONOUNS) && !token.is("one")
        {
            break;
        }
        words.push(token);
        at += 1;
    }
    (words, at)
}

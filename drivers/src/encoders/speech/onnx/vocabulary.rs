//! The tokens of Whisper: words, times and marks.

use std::path::Path;

use tokenizers::Tokenizer;

/// Seconds from one time token to the next.
const TIME_TOKEN_S: f32 = 0.02;
/// Signs that are written and never said: brackets begin remarks such as "(music)". Left out where they are one token.
const UNSPOKEN: &[&str] = &[
    "\"",
    "#",
    "(",
    ")",
    "*",
    "+",
    "/",
    ":",
    ";",
    "<",
    "=",
    ">",
    "@",
    "[",
    "\\",
    "]",
    "^",
    "_",
    "`",
    "{",
    "|",
    "}",
    "~",
    "「",
    "」",
    "『",
    "』",
    "<<",
    ">>",
    "<<<",
    ">>>",
    "--",
    "---",
    "-(",
    "-[",
    "('",
    "(\"",
    "((",
    "))",
    "(((",
    ")))",
    "[[",
    "]]",
    "{{",
    "}}",
    "♪♪",
    "♪♪♪",
];
/// Signs for music. Those of several tokens share the first one, which stands for nothing else: it is left out.
const MUSIC: &[&str] = &["♩", "♪", "♫", "♬", "♭", "♮", "♯"];
/// Signs that are left out at the begin of a word only.
const LEADING: &[&str] = &[" -", " '"];

/// Texts of a model's tokens.
pub(super) struct Vocabulary {
    tokenizer: Tokenizer,
    /// Ends a text; the tokens before it are words.
    pub end: u32,
    /// Begins a text.
    pub start: u32,
    /// Stands for sound without speech.
    pub no_speech: u32,
    /// The time 0; later times follow in steps of 20 ms.
    pub first_time: u32,
    /// A word of nothing but a space.
    pub blank: Option<u32>,
    /// Words that are never said, in ascending order.
    pub unspoken: Vec<u32>,
    /// Whether a space stands before each word.
    spaced: Vec<bool>,
}

impl Vocabulary {
    /// Reads `tokenizer.json` of an English model.
    pub fn load(path: &Path) -> Result<Self, String> {
        let tokenizer = Tokenizer::from_file(path).map_err(|error| error.to_string())?;
        let mark = |name: &str| {
            tokenizer.token_to_id(name).ok_or_else(|| format!("it has no token {name}: not a tokenizer of Whisper"))
        };
        let first = |text: &str, alone: bool| {
            let encoding = tokenizer.encode_fast(text, false).ok()?;
            let ids = encoding.get_ids();
            if alone && ids.len() != 1 { None } else { ids.first().copied() }
        };
        let spaced = |text: &&str| [(*text).to_owned(), format!(" {text}")];
        let alone = UNSPOKEN.iter().flat_map(spaced).filter_map(|text| first(&text, true));
        let music = MUSIC.iter().flat_map(spaced).filter_map(|text| first(&text, false));
        let leading = LEADING.iter().filter_map(|text| first(text, false));
        let mut unspoken: Vec<u32> = alone.chain(music).chain(leading).collect();
        unspoken.sort_unstable();
        unspoken.dedup();
        let end = mark("<|endoftext|>")?;
        // A space before a word is a sign of its own in this alphabet of bytes.
        let is_spaced = |token: u32| tokenizer.id_to_token(token).is_some_and(|text| text.starts_with('Ġ'));
        Ok(Self {
            end,
            spaced: (0..end).map(is_spaced).collect(),
            start: mark("<|startoftranscript|>")?,
            no_speech: mark("<|nocaptions|>").or_else(|_| mark("<|nospeech|>"))?,
            first_time: mark("<|notimestamps|>")? + 1,
            blank: first(" ", true),
            unspoken,
            tokenizer,
        })
    }

    /// The seconds that a time token stands for.
    pub fn seconds(&self, token: u32) -> f32 {
        token.saturating_sub(self.first_time) as f32 * TIME_TOKEN_S
    }

    /// The time token at or behind a time.
    pub fn time(&self, seconds: f32) -> u32 {
        self.first_time + (seconds.max(0.0) / TIME_TOKEN_S).ceil() as u32
    }

    /// Whether a token begins a word of its own.
    pub fn begins_word(&self, token: u32) -> bool {
        self.spaced.get(token as usize).copied().unwrap_or(false)
    }

    /// Returns the text of some tokens.
    pub fn text(&self, tokens: &[u32]) -> String {
        self.tokenizer.decode(tokens, true).unwrap_or_default().trim().to_owned()
    }
}

#[cfg(test)]
impl Vocabulary {
    /// Words 0 to 8, the end of a word 9, the end of a text 10, marks 11 to 13, and times from 14 on; without texts.
    pub fn of_numbers() -> Self {
        Self {
            tokenizer: Tokenizer::new(tokenizers::models::bpe::BPE::default()),
            end: 10,
            start: 11,
            no_speech: 12,
            first_time: 14,
            blank: Some(0),
            unspoken: vec![1],
            spaced: (0..10).map(|token| token < 9).collect(),
        }
    }
}

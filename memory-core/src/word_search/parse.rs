//! Reads a query.

use super::{WordPart, WordPattern, WordQuery, WordQueryError};
use crate::words::words;
use crate::{Kind, TimeSpan, Timestamp};

/// Maximum length of a query, in characters.
pub const MAX_QUERY_CHARS: usize = 2_000;
/// Maximum number of words, phrases and fields in a query.
pub const MAX_PARTS: usize = 32;
/// Maximum number after `near/`.
pub const MAX_NEAR: usize = 100;
/// The fields.
pub const FIELDS: [&str; 4] = ["who", "kind", "since", "until"];

/// Maximum number of characters of a query that an error quotes.
const MAX_QUOTED_CHARS: usize = 30;

/// One piece of a query.
enum QueryPiece {
    Phrase { text: String, excluded: bool },
    Near { text: String, within: usize },
    Field { name: &'static str, value: String },
}

impl WordQuery {
    /// Reads a query. `time` reads what stands behind `since:` and `until:`. Order and limit are the defaults; the limit is 0.
    ///
    /// # Errors
    /// If it is no query; the message says what to change.
    pub fn parse(text: &str, time: &mut dyn FnMut(&str) -> Result<Timestamp, String>) -> Result<Self, WordQueryError> {
        let chars = text.chars().count();
        if chars > MAX_QUERY_CHARS {
            return Err(WordQueryError::TooLong { chars });
        }
        let tokens = tokens(text)?;
        if tokens.len() > MAX_PARTS {
            return Err(WordQueryError::TooManyParts);
        }
        let mut query = Self::default();
        let (mut since, mut until) = (None, None);
        let mut phrases = Vec::new();
        for token in tokens {
            match token {
                QueryPiece::Field { name, value } => match name {
                    "since" => since = Some(point("since", since, &value, time)?),
                    "until" => until = Some(point("until", until, &value, time)?),
                    "kind" => query.kinds.push(kind(&value)?),
                    _ => query.entity = Some(who(query.entity.as_ref(), value)?),
                },
                other => phrases.push(other),
            }
        }
        query.parts = parts(phrases)?;
        query.span = span(since, until)?;
        let asks = query.parts.iter().any(|part| !part.excluded);
        if !asks && query.span.is_none() && query.kinds.is_empty() && query.entity.is_none() {
            return Err(if query.parts.is_empty() { WordQueryError::Empty } else { WordQueryError::OnlyExcluded });
        }
        Ok(query)
    }
}

fn span(since: Option<Timestamp>, until: Option<Timestamp>) -> Result<Option<TimeSpan>, WordQueryError> {
    if let (Some(since), Some(until)) = (since, until)
        && since > until
    {
        let reason = "is earlier than since:; exchange them".to_owned();
        return Err(WordQueryError::BadField { field: "until", reason });
    }
    let open = Timestamp::from_micros;
    let some = since.is_some() || until.is_some();
    Ok(some.then(|| TimeSpan::new(since.unwrap_or(open(i64::MIN)), until.unwrap_or(open(i64::MAX)))))
}

fn point(
    field: &'static str,
    before: Option<Timestamp>,
    value: &str,
    time: &mut dyn FnMut(&str) -> Result<Timestamp, String>,
) -> Result<Timestamp, WordQueryError> {
    if before.is_some() {
        return Err(WordQueryError::BadField { field, reason: "stands twice; keep one".to_owned() });
    }
    time(value).map_err(|reason| WordQueryError::BadField { field, reason })
}

fn kind(value: &str) -> Result<Kind, WordQueryError> {
    Kind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(value)).ok_or_else(|| {
        let reason =
            format!("there is no kind {}; the kinds are {}", shown(value), Kind::ALL.map(Kind::name).join(", "));
        WordQueryError::BadField { field: "kind", reason }
    })
}

fn who(before: Option<&String>, value: String) -> Result<String, WordQueryError> {
    let bad = |reason: &str| WordQueryError::BadField { field: "who", reason: reason.to_owned() };
    if before.is_some() {
        return Err(bad("stands twice; an event is about one person or thing, so keep one"));
    }
    if words(&value).next().is_none() {
        return Err(bad("holds no name; write who:Anna or who:\"Anna Lee\""));
    }
    Ok(value)
}

/// Joins `a near/5 b` and keeps everything else.
fn parts(tokens: Vec<QueryPiece>) -> Result<Vec<WordPart>, WordQueryError> {
    let mut parts: Vec<WordPart> = Vec::new();
    // What stands left of an operator, and the operator.
    let mut left: Option<String> = None;
    let mut operator: Option<(String, usize)> = None;
    let bad = |text: &str, reason| WordQueryError::BadNear { text: text.to_owned(), reason };
    for token in tokens {
        match token {
            QueryPiece::Near { text, within } => {
                if left.is_none() || operator.is_some() {
                    return Err(bad(&text, "nothing stands before it"));
                }
                operator = Some((text, within));
            }
            QueryPiece::Phrase { text, excluded } => {
                match operator.take() {
                    Some((near, _)) if excluded => return Err(bad(&near, "an excluded word cannot be near")),
                    Some((near, within)) => {
                        let before = left.take().ok_or_else(|| bad(&near, "nothing stands before it"))?;
                        // In `a near/5 b near/3 c` b has been kept alone, or as the end of the first pair.
                        if matches!(parts.last(), Some(WordPart { pattern: WordPattern::Phrase(_), .. })) {
                            parts.pop();
                        }
                        let pattern = WordPattern::Near(before, text.clone(), within);
                        parts.push(WordPart { pattern, excluded: false });
                    }
                    None => parts.push(WordPart { pattern: WordPattern::Phrase(text.clone()), excluded }),
                }
                left = (!excluded).then_some(text);
            }
            QueryPiece::Field { .. } => {}
        }
    }
    match operator {
        Some((near, _)) => Err(bad(&near, "nothing stands behind it")),
        None => Ok(parts),
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}')
}

fn tokens(text: &str) -> Result<Vec<QueryPiece>, WordQueryError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let at = |rest: &str| text[..text.len() - rest.len()].chars().count() + 1;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(tokens);
        }
        // A minus with nothing behind it is a dash.
        let minus =
            rest.strip_prefix('-').filter(|behind| !behind.is_empty() && !behind.starts_with(char::is_whitespace));
        let excluded = minus.is_some();
        rest = minus.unwrap_or(rest);
        if rest.starts_with(is_quote) {
            let (phrase, behind) = quoted(rest, at(rest))?;
            rest = behind;
            push_phrase(&mut tokens, phrase, excluded);
            continue;
        }
        let end = rest.find(|c: char| c.is_whitespace() || is_quote(c)).unwrap_or(rest.len());
        let (chunk, behind) = rest.split_at(end);
        if let Some((name, value)) = field(chunk, behind)? {
            if excluded {
                let reason = format!("a field cannot be excluded; write {name}: without the minus");
                return Err(WordQueryError::BadField { field: name, reason });
            }
            let (value, behind) = match value {
                "" if behind.starts_with(is_quote) => quoted(behind, at(behind))?,
                value => (value, behind),
            };
            if value.trim().is_empty() {
                let reason = format!(
                    "nothing stands behind it; write the value directly behind the colon, such as {}",
                    example(name)
                );
                return Err(WordQueryError::BadField { field: name, reason });
            }
            tokens.push(QueryPiece::Field { name, value: value.to_owned() });
            rest = behind;
            continue;
        }
        rest = behind;
        match near(chunk) {
            Some(_) if excluded => {
                let reason = "exclude words and phrases, not their nearness";
                return Err(WordQueryError::BadNear { text: format!("-{chunk}"), reason });
            }
            Some(Ok(within)) => tokens.push(QueryPiece::Near { text: chunk.to_owned(), within }),
            Some(Err(reason)) => return Err(WordQueryError::BadNear { text: shown(chunk), reason }),
            None if chunk == "OR" => return Err(WordQueryError::Or),
            None => push_phrase(&mut tokens, chunk, excluded),
        }
    }
}

/// What holds no word asks for nothing.
fn push_phrase(tokens: &mut Vec<QueryPiece>, text: &str, excluded: bool) {
    if words(text).next().is_some() {
        tokens.push(QueryPiece::Phrase { text: text.to_owned(), excluded });
    }
}

/// The inside of the quotes at the begin of `text`, and what follows them.
fn quoted(text: &str, at: usize) -> Result<(&str, &str), WordQueryError> {
    let mut chars = text.chars();
    chars.next();
    let inside = chars.as_str();
    let unclosed = || WordQueryError::UnclosedQuote { at, text: shown(inside) };
    let (phrase, behind) = inside.split_once(is_quote).ok_or_else(unclosed)?;
    Ok((phrase, behind))
}

/// The field that a chunk begins with, and what stands behind its colon. A colon that ends a word, stands before a slash or behind a
/// digit is none of a field.
fn field<'a>(chunk: &'a str, behind: &str) -> Result<Option<(&'static str, &'a str)>, WordQueryError> {
    let Some((name, value)) = chunk.split_once(':') else { return Ok(None) };
    if let Some(known) = FIELDS.into_iter().find(|known| known.eq_ignore_ascii_case(name)) {
        return Ok(Some((known, value)));
    }
    let is_name = !name.is_empty() && name.chars().all(char::is_alphabetic);
    let has_value = !value.is_empty() && !value.starts_with('/') || value.is_empty() && behind.starts_with(is_quote);
    if is_name && has_value { Err(WordQueryError::UnknownField { name: shown(name) }) } else { Ok(None) }
}

/// The number of `near/5`; `None` if it is a word.
fn near(chunk: &str) -> Option<Result<usize, &'static str>> {
    let (name, number) = chunk.split_once('/')?;
    if !name.eq_ignore_ascii_case("near") {
        return None;
    }
    let within = number.parse::<usize>().ok().filter(|within| (1..=MAX_NEAR).contains(within));
    Some(within.ok_or("it needs a number of words"))
}

fn example(field: &str) -> &'static str {
    match field {
        "kind" => "kind:action",
        "since" => "since:2h",
        "until" => "until:2026-11-20",
        _ => "who:Anna or who:\"Anna Lee\"",
    }
}

/// The first characters of a text.
fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

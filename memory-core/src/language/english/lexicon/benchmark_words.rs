//! Checks that no word is in the rules only because one benchmark question contains it.
//!
//! A word in a string literal of the rules is suspicious if it is rare in English and occurs in at most three questions
//! of the benchmarks' dev splits, or if it is a name in any of them. The questions are in a folder beside the
//! repository. Without them, the check says that it was skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::frequency;

/// Allowed words, and files of which all words are allowed. The text after a `#` is the reason.
const ALLOWED: &str = include_str!("benchmark_words.allow");
const ROOMS: [&str; 4] = ["language", "recall", "semantic", "logic"];
const FEW_QUESTIONS: usize = 3;
/// Maximum count of a rare word in WordNet's concordance.
const RARE: u32 = 5;
/// Maximum count of a rare word in the conversations of LoCoMo.
const OFTEN_SAID: usize = 40;

/// Returns the words of at least three letters, in lower case, without contractions ("didn't") and possessive endings.
fn words(text: &str) -> BTreeSet<String> {
    let found = text.split(|c: char| !c.is_ascii_alphabetic() && c != '\'');
    let found = found.map(|word| word.trim_matches('\'').trim_end_matches("'s")).filter(|word| !word.contains('\''));
    found.filter(|word| word.len() >= 3).map(str::to_ascii_lowercase).collect()
}

/// Returns the string literals of a Rust source. Comments are skipped.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'', 'r']) {
        let from = &rest[at..];
        let quotes = from.strip_prefix('r').map(|raw| raw.len() - raw.trim_start_matches('#').len());
        let word_before = rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if from.starts_with("//") {
            rest = from.split_once('\n').map_or("", |(_, after)| after);
        } else if from.starts_with("/*") {
            rest = from.split_once("*/").map_or("", |(_, after)| after);
        } else if from.starts_with("'\"'") || from.starts_with("'\\") {
            rest = from.get(if from.starts_with("'\\") { 4 } else { 3 }..).unwrap_or("");
        } else if let Some(hashes) = quotes.filter(|hashes| !word_before && from[1 + hashes..].starts_with('"')) {
            let end = format!("\"{}", "#".repeat(hashes));
            let (literal, after) = from[2 + hashes..].split_once(&end).unwrap_or((&from[2 + hashes..], ""));
            found.push(literal.to_owned());
            rest = after;
        } else if let Some(literal) = from.strip_prefix('"') {
            let mut escaped = false;
            let end = literal.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let end = end.unwrap_or(literal.len());
            found.push(literal[..end].to_owned());
            rest = literal.get(end + 1..).unwrap_or("");
        } else {
            rest = &from[1..];
        }
    }
    found
}

/// Returns all files below `folder` for which `wanted` holds, sorted.
fn files(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path, wanted));
        } else if wanted(&path) {
            found.push(path);
        }
    }
    found
}

/// Returns the values of a JSON file, or of a file with one value per line.
fn values(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap();
    serde_json::Deserializer::from_str(&text).into_iter().map(|value| value.unwrap()).collect()
}

/// Returns whether `word` always starts with a capital in `questions`.
fn is_name_in(word: &str, questions: &BTreeSet<String>) -> bool {
    let texts = questions.iter().flat_map(|question| question.split(|c: char| !c.is_ascii_alphabetic()));
    texts.filter(|text| text.eq_ignore_ascii_case(word)).all(|text| text.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Collects the questions that contain each word.
fn count_questions(value: &serde_json::Value, counts: &mut BTreeMap<String, BTreeSet<String>>) {
    match value {
        serde_json::Value::Object(fields) => {
            if let Some(question) = fields.get("question").and_then(|question| question.as_str()) {
                let options = fields.get("options").and_then(|options| options.as_array());
                let options = options.into_iter().flatten().filter_map(|option| option.as_str());
                for word in [question].into_iter().chain(options).flat_map(words) {
                    counts.entry(word).or_default().insert(question.to_owned());
                }
            }
            fields.values().for_each(|value| count_questions(value, counts));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|value| count_questions(value, counts)),
        _ => {}
    }
}

#[test]
fn no_word_stands_in_the_rules_because_one_question_has_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bench = root.join("../../shared/bench");
    let is_dev = |path: &Path| {
        let below = path
            .strip_prefix(&bench)
            .is_ok_and(|path| path.iter().any(|part| part.to_string_lossy().starts_with("dev")));
        below && path.file_stem().is_some_and(|name| name == "questions")
    };
    let questions = files(&bench, &is_dev);
    if questions.is_empty() {
        println!("SKIPPED: there are no questions in {}, so the words of the rules are not checked", bench.display());
        return;
    }
    let mut counts = BTreeMap::new();
    questions.iter().flat_map(|path| values(path)).for_each(|value| count_questions(&value, &mut counts));
    assert!(counts.len() > 500, "only {} words were found in the questions: this check sees nothing", counts.len());
    let mut said: BTreeMap<String, usize> = BTreeMap::new();
    for path in files(&bench.join("locomo/dev"), &|path| path.file_stem().is_some_and(|name| name == "observations")) {
        for value in values(&path) {
            for word in words(value["text"].as_str().unwrap_or_default()) {
                *said.entry(word).or_default() += 1;
            }
        }
    }
    let suspicious = |word: &str| {
        let Some(questions) = counts.get(word) else { return false };
        let seldom = questions.len() <= FEW_QUESTIONS && said.get(word).is_none_or(|count| *count <= OFTEN_SAID);
        let name = || frequency(word) == 0 && is_name_in(word, questions);
        (seldom && frequency(word) <= RARE) || name()
    };

    let allowed: BTreeSet<&str> = ALLOWED
        .lines()
        .filter_map(|line| line.split('#').next())
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let (mut needed, mut refused) = (BTreeSet::new(), BTreeMap::new());
    for path in ROOMS
        .iter()
        .flat_map(|room| files(&root.join("src").join(room), &|path| path.extension().is_some_and(|e| e == "rs")))
    {
        let name = path.strip_prefix(root.join("src")).unwrap().to_string_lossy().into_owned();
        let source = fs::read_to_string(&path).unwrap();
        let found: BTreeSet<String> = literals(&source).iter().flat_map(|literal| words(literal)).collect();
        for word in found.into_iter().filter(|word| suspicious(word)) {
            println!("{word:14} {name:40} {}", counts[&word].iter().next().unwrap());
            if let Some(entry) = allowed.get(name.as_str()).or_else(|| allowed.get(word.as_str())) {
                needed.insert(*entry);
            } else {
                refused.entry(word).or_insert_with(Vec::new).push(name.clone());
            }
        }
    }
    for entry in allowed.difference(&needed) {
        println!("{entry} is allowed and no longer needs to be: take it off benchmark_words.allow");
    }
    assert!(
        refused.is_empty(),
        "{} words look as if one question of a benchmark had put them there; use a word of your own, or allow it with a reason in \
         benchmark_words.allow: {refused:#?}",
        refused.len()
    );
}

#[test]
fn string_literals_are_found_and_comments_are_not() {
    let source = r####"
        // "comment"
        let quote = '"'; /* "block" */
        let a = "one \"two\" three"; // it's
        fn f<'a>(x: &'a str) -> &'a str { r#"four "five""# }
        let b = "six";
    "####;
    assert_eq!(literals(source), [r#"one \"two\" three"#, r#"four "five""#, "six"]);
}

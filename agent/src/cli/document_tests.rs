//! The commands and exit codes that the documents show, against the command line.

use std::collections::BTreeMap;

use clap::Parser;
use clap::error::ErrorKind;

use super::Cli;
use crate::exit::Exit;

const GUIDE: &str = include_str!("../../../docs/guide.md");

/// Everything that shows commands, by name.
const DOCUMENTS: [(&str, &str); 15] = [
    ("README.md", include_str!("../../../README.md")),
    ("docs/CHANGELOG.md", include_str!("../../../docs/CHANGELOG.md")),
    ("docs/CONTRIBUTING.md", include_str!("../../../docs/CONTRIBUTING.md")),
    ("docs/benchmarks.md", include_str!("../../../docs/benchmarks.md")),
    ("docs/decisions.md", include_str!("../../../docs/decisions.md")),
    ("docs/glossary.md", include_str!("../../../docs/glossary.md")),
    ("docs/guide.md", GUIDE),
    ("docs/integrations.md", include_str!("../../../docs/integrations.md")),
    ("docs/jetson.md", include_str!("../../../docs/jetson.md")),
    ("docs/memory-format.md", include_str!("../../../docs/memory-format.md")),
    ("docs/mqtt.md", include_str!("../../../docs/mqtt.md")),
    ("docs/security.md", include_str!("../../../docs/security.md")),
    ("docs/tensorrt.md", include_str!("../../../docs/tensorrt.md")),
    ("config/engram.toml", include_str!("../../../config/engram.toml")),
    ("config/jetson.toml", include_str!("../../../config/jetson.toml")),
];

/// The commands of a text: lines of shell blocks and whatever stands in backticks, from the word `engram` on.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = if fence.is_none() { Some(language) } else { None };
        } else if fence == Some("sh") {
            found.push(line);
        } else if fence.is_none() {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    let mut found: Vec<String> = found.iter().flat_map(|line| line.split([';', '|', '&'])).map(str::to_owned).collect();
    // A command stands at the beginning, or behind `sudo`, a variable or a brace.
    found.retain_mut(|part| {
        let begin = part.rmatch_indices("engram ").map(|(at, _)| at).find(|at| {
            let before: Vec<&str> = part[..*at].split_whitespace().collect();
            let whole_word = *at == 0 || part[..*at].ends_with(' ');
            let value_of_a_flag = before.last().is_some_and(|word| matches!(*word, "-u" | "-g"));
            let led_by = before.first().is_none_or(|word| *word == "sudo" || word.contains('='));
            whole_word && !value_of_a_flag && (led_by || before.last() == Some(&"{"))
        });
        if let Some(at) = begin {
            part.drain(..at);
        }
        begin.is_some()
    });
    found
}

/// Words as a shell would split them, without what follows a `#`.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// Whether the command line takes the command, or only misses what the text leaves out.
fn is_known(command: &str) -> Result<(), String> {
    match Cli::try_parse_from(words(command)) {
        Ok(_) => Ok(()),
        Err(error) => match error.kind() {
            ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion => Ok(()),
            _ => Err(format!("{command}\n{error}")),
        },
    }
}

#[test]
fn every_command_in_the_documents_exists() {
    let (mut seen, mut unknown) = (BTreeMap::new(), Vec::new());
    for (name, text) in DOCUMENTS {
        for command in commands(text) {
            if !cfg!(feature = "tensorrt") && command.contains("models build") {
                continue;
            }
            *seen.entry(name).or_insert(0) += 1;
            unknown.extend(is_known(&command).err().map(|error| format!("{name}: {error}")));
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert!(seen.get("README.md").is_some_and(|count| *count >= 10), "{seen:?}");
    assert!(seen.get("docs/guide.md").is_some_and(|count| *count >= 40), "{seen:?}");
}

#[test]
fn a_command_that_does_not_exist_is_noticed() {
    let text = "```sh\nsudo -u engram engram remember --file x   # nothing\n```\n`engram ask --quickly`\n";
    let found = commands(text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|command| is_known(command).is_err()), "{found:?}");
}

#[test]
fn the_guide_lists_every_exit_code() {
    let rows = GUIDE.lines().skip_while(|line| !line.starts_with("| exit code |")).skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    let expected = Exit::TABLE.map(|(exit, meaning)| format!("| {} | {meaning} |", exit as u8));
    assert_eq!(rows, expected);
}

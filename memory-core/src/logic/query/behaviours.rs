//! `aggregateCharacterBehaviors` (NS-Mem 4.3.3): the procedures that a person does.

use crate::index::words;
use crate::logic::{Procedure, Run};

/// A procedure that a person does.
#[derive(Debug, Clone)]
pub struct Behaviour<'a> {
    /// The procedure.
    pub procedure: &'a Procedure,
    /// The sessions in which the person took part, in the order in which they joined.
    pub runs: Vec<&'a Run>,
}

/// Returns the procedures of a person, the most frequent first. Any of the name's words matches: "Anna" is "Anna Lee", too.
pub fn behaviours<'a>(procedures: impl IntoIterator<Item = &'a Procedure>, person: &str) -> Vec<Behaviour<'a>> {
    let asked: Vec<String> = words(person).collect();
    let is_asked = |name: &str| {
        let name: Vec<String> = words(name).collect();
        !asked.is_empty() && asked.iter().all(|word| name.contains(word))
    };
    let mut found = Vec::new();
    for procedure in procedures {
        let persons: Vec<u32> = names(procedure).filter(|(_, name)| is_asked(name)).map(|(number, _)| number).collect();
        if persons.is_empty() {
            continue;
        }
        let took_part = |run: &&Run| run.persons().iter().any(|person| persons.contains(person));
        let runs: Vec<&Run> = procedure.runs().filter(took_part).collect();
        if !runs.is_empty() {
            found.push(Behaviour { procedure, runs });
        }
    }
    found.sort_by(|a, b| b.runs.len().cmp(&a.runs.len()).then_with(|| a.procedure.id().cmp(&b.procedure.id())));
    found
}

fn names(procedure: &Procedure) -> impl Iterator<Item = (u32, &str)> {
    (0..).map_while(|number| procedure.name(number).map(|name| (number, name)))
}

//! The learned state: the accumulator of the fold.

mod stored;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::LearningOptions;
use crate::episodic::anchors::{Anchors, EntityNews, Margin, NamingEntry, NamingRequest, Person, ToldName};
use crate::lesson::{Lesson, SensedVector};
use crate::logic::{Phi, Procedures, RowKey, actions_of};
use crate::ports::ProcedureJudge;
use crate::semantic::{self, Fact, FactKind, FactTopic, Facts, MentionContext, Noun, TopicKey};
use crate::shared::Shared;
use crate::words::fold_name;
use crate::{AnchorId, EventId, FactFilter, ProcedureNews};

/// Default number of facts in a list.
const DEFAULT_FACTS: usize = 100;
/// Maximum number of bytes of aliases. They are in the row of the head, whose length is limited.
const MAX_ALIAS_BYTES: usize = 96 << 10;
/// Maximum number of namings that are kept.
const MAX_NAMINGS: usize = 65_536;

/// Number of topics between two checks of the time budget.
const TOPICS_PER_CHECK: usize = 256;

/// There was no time to list everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Late;

/// Events that are no longer to be known.
#[derive(Debug, Default)]
pub(crate) struct Withdrawal {
    /// Events that were hidden.
    pub events: Vec<EventId>,
    /// The first of those of every source that facts may be read from; `None` where the source is not known.
    pub first_of_source: BTreeMap<Option<String>, EventId>,
    /// The vectors of the senses that they had.
    pub vectors: Vec<(EventId, SensedVector)>,
    /// Names that were forgotten with all that names them.
    pub names: Vec<String>,
}

impl Withdrawal {
    /// Puts everything in order of events, as [`Learnt::withdraw`] expects it.
    pub fn sort(&mut self) {
        self.events.sort_unstable();
        self.vectors.sort_by_key(|(event, _)| *event);
    }
}

/// Everything that was learnt up to a cursor. Clones share what neither has changed.
#[derive(Clone, Default)]
pub struct Learnt {
    options: LearningOptions,
    head: LearntHead,
    facts: Facts,
    anchors: Anchors,
    procedures: Shared<Procedures>,
    /// Namings by number. They are applied again when everything is folded anew.
    namings: Shared<BTreeMap<u64, NamingEntry>>,
    /// Vectors of events that a later naming splits off; only while everything is folded anew.
    stashed: Vec<(EventId, SensedVector)>,
    /// Rows of procedures on their way in.
    procedure_rows: Vec<(RowKey, Vec<u8>)>,
    /// The same of withdrawn events.
    withdrawn_rows: BTreeSet<EventId>,
    head_changed: bool,
    changed_namings: BTreeSet<u64>,
    changed_withdrawn: BTreeSet<EventId>,
}

/// The row of [`LearntPart::Head`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct LearntHead {
    /// The last event that was learnt from.
    cursor: EventId,
    /// Whether something was withdrawn whose traces only a new fold removes.
    stale: bool,
    /// The number of the next naming to be done.
    next_naming: u64,
    context: MentionContext,
    margin: Margin,
}

impl Learnt {
    /// The last event that was learnt from.
    pub(crate) fn cursor(&self) -> EventId {
        self.head.cursor
    }

    /// Whether it must be folded anew.
    pub(crate) fn is_stale(&self) -> bool {
        self.head.stale
    }

    /// Whether procedures hold something of hidden events, and must be folded anew.
    pub(crate) fn has_withdrawn(&self) -> bool {
        !self.procedures.withdrawn().is_empty()
    }

    /// Whether anything of it is to be folded anew.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.is_stale() || self.has_withdrawn()
    }

    /// Whether [`withdraw`](Self::withdraw) takes as long as what is withdrawn, and not as all that was learnt.
    pub(crate) fn is_prepared(&self) -> bool {
        self.facts.is_referred()
    }

    /// Sees to that.
    pub(crate) fn prepare(&mut self) {
        self.facts.refer_all();
    }

    /// Puts new procedures, folded from the visible events up to the cursor, in the place of the old ones. What was hidden
    /// since they read it stays withdrawn.
    pub(crate) fn take_procedures(&mut self, mut procedures: Procedures) {
        let withdrawn = self.procedures.withdrawn();
        self.changed_withdrawn.extend(withdrawn.iter().copied());
        procedures.conceal(withdrawn.iter().copied());
        self.procedures = Shared::new(procedures);
    }

    /// Has it folded anew.
    pub(crate) fn set_stale(&mut self) {
        self.head.stale = true;
        self.head_changed = true;
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(crate) fn anchors(&self) -> &Anchors {
        &self.anchors
    }

    /// The procedures.
    pub fn procedures(&self) -> &Procedures {
        &self.procedures
    }

    /// Goes by these options from now on.
    pub(crate) fn follow(&mut self, options: LearningOptions) {
        if self.options != options {
            self.options = options;
            self.anchors.set_same_person(options.same_person);
            self.procedures.change().set_options(options.logic());
        }
    }

    /// Has patterns of actions judged by `judge` from now on.
    pub(crate) fn judge_by(&mut self, judge: Option<&Arc<dyn ProcedureJudge>>) {
        if !self.procedures.is_judged_by(judge) {
            self.procedures.change().set_judge(judge.cloned());
        }
    }

    /// An empty state from which everything is folded anew; what people told is kept.
    pub(crate) fn begin_again(&self) -> Self {
        Self { namings: self.namings.clone(), ..Self::default() }
    }

    /// Does what people told after all events that a new fold has seen.
    pub(crate) fn finish_fold(&mut self) {
        self.do_namings(EventId(u64::MAX));
        self.stashed.clear();
    }

    /// Takes in the next event. Events come in order of commit, each once.
    pub(crate) fn learn(&mut self, lesson: &Lesson, phi: &Phi<'_>) {
        let event = &lesson.event;
        debug_assert!(event.id > self.head.cursor, "events come in order of commit");
        self.do_namings(event.id);
        if !lesson.vectors.is_empty() {
            let wanted = self.namings.range(self.head.next_naming..).any(|(_, told)| told.events().contains(&event.id));
            if wanted {
                self.stashed.extend(lesson.vectors.iter().map(|vector| (event.id, vector.clone())));
            }
        }
        let heard = self.anchors.learn(lesson);
        let mut conclusions = semantic::conclusions(event, heard, &mut self.head.context);
        for stated in lesson.statements.iter().filter_map(|statement| semantic::stated(event, statement)) {
            // What the rules have read already would count twice.
            if !conclusions.iter().any(|known| known.topic() == stated.topic()) {
                conclusions.push(stated);
            }
        }
        conclusions.into_iter().for_each(|conclusion| self.facts.add(conclusion));
        for action in actions_of(event) {
            self.procedures.change().observe(&action, phi);
        }
        self.head.cursor = event.id;
        self.head_changed = true;
    }

    /// Does the namings that were told before `next` was learnt from.
    fn do_namings(&mut self, next: EventId) {
        while let Some(naming) = self.namings.get(&self.head.next_naming).filter(|naming| naming.after < next) {
            self.anchors.apply(naming, &self.stashed);
            self.head.next_naming += 1;
            // Numbers of namings that were forgotten are left out.
            if let Some((number, _)) = self.namings.range(self.head.next_naming..).next() {
                self.head.next_naming = *number;
            }
            self.head_changed = true;
        }
    }

    /// Takes in what a person tells about an entity, and returns the persons that it is about. `vectors` are those of the
    /// events that a split names. The error says what to change.
    pub(crate) fn name(
        &mut self,
        request: &NamingRequest,
        vectors: &[(EventId, SensedVector)],
    ) -> Result<Vec<Person>, String> {
        let told = self.anchors.read(request)?;
        if self.namings.len() + told.len() > MAX_NAMINGS {
            return Err(format!("{MAX_NAMINGS} names, merges and splits were told; forget some first"));
        }
        let more: usize = told.iter().map(ToldName::alias_bytes).sum();
        if more > 0 && self.anchors.alias_bytes() + more > MAX_ALIAS_BYTES {
            return Err("too many further names of persons were told; forget some first".into());
        }
        for told in told {
            let naming = NamingEntry { after: self.head.cursor, told };
            let number = self.namings.last_key_value().map_or(0, |(last, _)| last + 1).max(self.head.next_naming);
            self.anchors.apply(&naming, vectors);
            self.namings.change().insert(number, naming);
            self.changed_namings.insert(number);
            self.head.next_naming = number + 1;
        }
        self.head_changed = true;
        let (NamingRequest::Name { entity, .. }
        | NamingRequest::Merge { entity, .. }
        | NamingRequest::Split { entity, .. }) = request;
        let mut persons: Vec<Person> = Vec::new();
        for id in self.anchors.find(entity).into_iter().chain(self.split_off(request)) {
            if !persons.iter().any(|person| person.id == id) {
                persons.push(self.anchors.person(id));
            }
        }
        Ok(persons)
    }

    fn split_off(&self, request: &NamingRequest) -> Vec<AnchorId> {
        let NamingRequest::Split { others, .. } = request else { return Vec::new() };
        let mut ids = Vec::new();
        for other in others {
            match other.strip_prefix("ev-").and_then(|number| number.parse().ok()) {
                Some(event) => ids.extend(self.anchors.of_event(EventId(event))),
                None => ids.extend(self.anchors.find(other)),
            }
        }
        ids
    }

    /// Takes back what hidden events taught. Of procedures it conceals those that hold something of them. O(hidden events),
    /// if it is [prepared](Self::is_prepared).
    pub(crate) fn withdraw(&mut self, withdrawal: &Withdrawal) {
        let cursor = self.head.cursor;
        let hidden: Vec<EventId> = withdrawal.events.iter().copied().filter(|event| *event <= cursor).collect();
        let names: Vec<String> = withdrawal.names.iter().map(|name| fold_name(name)).collect();
        if hidden.is_empty() && names.is_empty() {
            return;
        }
        let mut exact = self.head.context.withdraw(&hidden, &withdrawal.first_of_source);
        exact &= self.facts.withdraw(&hidden);
        let same_anchors = self.anchors.withdraw(&hidden, &withdrawal.vectors);
        exact &= same_anchors;
        let held: Vec<EventId> = hidden.iter().copied().filter(|event| self.procedures.holds(*event)).collect();
        if !held.is_empty() {
            self.procedures.change().conceal(held.iter().copied());
            self.changed_withdrawn.extend(held);
        }
        if !names.is_empty() {
            self.anchors.forget_names(&names);
        }
        // In a fold that goes on, later namings wait for those they are about.
        let done = |number: u64| number < self.head.next_naming;
        let lost = |number: u64, naming: &NamingEntry| {
            naming.has_name(&names) || !same_anchors && done(number) && !self.anchors.can_do(naming)
        };
        let lost: Vec<u64> = match same_anchors && names.is_empty() {
            true => Vec::new(),
            false => {
                let namings = self.namings.iter().filter(|(number, naming)| lost(**number, naming));
                namings.map(|(number, _)| *number).collect()
            }
        };
        for number in lost {
            self.namings.change().remove(&number);
            self.changed_namings.insert(number);
            exact = false;
        }
        self.head.stale |= !exact;
        self.head_changed = true;
    }

    /// Returns the changes of procedures since `before`.
    pub(crate) fn procedure_news(&self, before: &Self) -> Vec<ProcedureNews> {
        if self.procedures.is_same(&before.procedures) {
            return Vec::new();
        }
        self.procedures.news_since(&before.procedures)
    }

    /// News of persons for those who listen, since the last call.
    pub(crate) fn take_news(&mut self) -> Vec<EntityNews> {
        self.anchors.take_news()
    }

    /// Returns the other names of a person or thing.
    pub(crate) fn also_called(&self, subject: &Noun) -> Vec<Noun> {
        self.anchors.also_called(&subject.shown).iter().filter_map(|name| Noun::named(name)).collect()
    }

    /// A text of facts with names in the place of ids.
    pub(crate) fn with_names(&self, text: &str) -> String {
        let words = text.split(' ').map(|word| {
            let bare = word.trim_end_matches(|c: char| !c.is_ascii_digit());
            let named = bare.parse::<AnchorId>().ok().map(|id| self.anchors.name_of(self.anchors.root(id)));
            match named {
                Some(Some(name)) => word.replace(bare, name),
                Some(None) => word.replace(bare, &format!("somebody ({bare})")),
                None => word.to_owned(),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Every event that something goes back to, ascending.
    pub(crate) fn evidence(&self) -> BTreeSet<EventId> {
        let topics = self.facts.all();
        let facts = topics.values().flat_map(|topic| topic.claims().map(|claim| claim.event));
        facts.chain(self.anchors.evidence()).collect()
    }

    /// Facts as a person lists them. `late`: whether there is no time for more, asked now and then.
    ///
    /// # Errors
    /// [`Late`] if there is none.
    pub(crate) fn list_facts(&self, filter: &FactFilter, late: &dyn Fn() -> bool) -> Result<Vec<Fact>, Late> {
        if let Some(about) = &filter.about {
            return self.facts_about(about, filter, late);
        }
        let subject = filter.subject.as_deref().and_then(Noun::named);
        let limit = filter.limit.unwrap_or(DEFAULT_FACTS);
        let mut facts = Vec::new();
        let mut seen = 0_usize;
        // Whether there is room for more.
        let mut take = |key: &TopicKey, topic: &FactTopic| -> Result<bool, Late> {
            seen += 1;
            if seen.is_multiple_of(TOPICS_PER_CHECK) && late() {
                return Err(Late);
            }
            let mut told = Facts::in_topic(key, topic);
            told.retain(|fact| filter.past || fact.until.is_none() || fact.kind == FactKind::Deed);
            facts.extend(told);
            Ok(facts.len() < limit)
        };
        match &subject {
            Some(noun) => {
                let words: Vec<&str> = noun.key.split(' ').collect();
                for (key, topic) in self.facts.topics(&noun.head) {
                    if words.iter().all(|word| key.subject.split(' ').any(|own| own == *word)) && !take(key, topic)? {
                        break;
                    }
                }
            }
            None if filter.subject.is_none() => {
                for (key, topic) in self.facts.sorted() {
                    if !take(key, topic)? {
                        break;
                    }
                }
            }
            None => {}
        }
        facts.truncate(limit);
        Ok(facts)
    }

    /// The facts that involve an entity under any of its names, the heaviest first.
    fn facts_about(&self, about: &str, filter: &FactFilter, late: &dyn Fn() -> bool) -> Result<Vec<Fact>, Late> {
        let Some(noun) = Noun::named(about) else { return Ok(Vec::new()) };
        let called: Vec<Noun> = self.also_called(&noun).into_iter().chain([noun]).collect();
        let seen = Cell::new(0_usize);
        let go_on = || {
            seen.set(seen.get() + 1);
            !seen.get().is_multiple_of(TOPICS_PER_CHECK) || !late()
        };
        let found = self.facts.involving(&called, &go_on).ok_or(Late)?;
        let subject = filter.subject.as_deref().and_then(Noun::named);
        let facts = found.into_iter().map(|(_, fact)| fact).filter(|fact| {
            let current = filter.past || fact.until.is_none() || fact.kind == FactKind::Deed;
            let own = Noun::named(&fact.subject);
            current && subject.as_ref().is_none_or(|noun| own.is_some_and(|own| own.covers(noun)))
        });
        Ok(facts.take(filter.limit.unwrap_or(DEFAULT_FACTS)).collect())
    }
}

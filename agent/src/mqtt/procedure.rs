//! `cmd/procedure`: queries about procedures, and their replies.

use jiff::tz::TimeZone;
use memory_core::logic::query::{Constraints, Part, Phrase};
use memory_core::{
    Alternatives, LikelyStep, PictureFormat, ProcedureDetail, ProcedureNews, ProcedureReply, ProcedureRequest,
    ProcedureSummary, Remark, SessionEvidence, StepDetail, StepFact, Ways, WhichProcedure,
};
use serde_json::{Map, Value, json};

use super::fields::{Fields, wrong};
use super::reply::Refusal;

/// Names of all queries, as in `{"next": {…}}`.
pub const QUERIES: [&str; 8] = ["list", "get", "paths", "next", "missing", "alternatives", "behaviours", "show"];

/// Default number of procedures, of paths and of next steps.
const DEFAULT_LIST: usize = 100;
const DEFAULT_PATHS: usize = 20;
const DEFAULT_NEXT: usize = 5;

/// Reads a request: exactly one query.
pub fn read(fields: Fields<'_>) -> Result<ProcedureRequest, Refusal> {
    let mut asked = QUERIES.into_iter().filter_map(|name| Some((name, fields.value(name)?)));
    let Some((name, value)) = asked.next() else {
        return Err(Refusal::bad(format!("name a query: one of {}", QUERIES.join(", "))));
    };
    if let Some((other, _)) = asked.next() {
        return Err(Refusal::bad(format!("`{name}` and `{other}` are two queries; send them one by one")));
    }
    let Value::Object(map) = value else { return Err(wrong(name, "an object", value)) };
    let query = Fields(map);
    let done = || query.texts("done");
    Ok(match name {
        "list" => ProcedureRequest::List {
            goal_like: query.text("goal_like")?.map(str::to_owned),
            max: amount(query, "max", DEFAULT_LIST)?,
        },
        "get" => ProcedureRequest::Get(which(query)?),
        "paths" => ProcedureRequest::Paths {
            of: which(query)?,
            constraints: constraints(query)?,
            done: done()?,
            max: amount(query, "max", DEFAULT_PATHS)?,
        },
        "next" => ProcedureRequest::Next { of: which(query)?, done: done()?, k: amount(query, "k", DEFAULT_NEXT)? },
        "missing" => ProcedureRequest::Missing { of: which(query)?, done: done()? },
        "alternatives" => ProcedureRequest::Alternatives {
            of: which(query)?,
            blocked: query.texts("blocked")?,
            done: done()?,
            max: amount(query, "max", DEFAULT_PATHS)?,
        },
        "behaviours" => {
            let person = query.text("person")?.ok_or_else(|| Refusal::bad("`person` is missing"))?;
            ProcedureRequest::Behaviours { person: person.to_owned() }
        }
        _ => {
            let format = match query.text("format")?.unwrap_or("svg") {
                "svg" => PictureFormat::Svg,
                "dot" => PictureFormat::Dot,
                _ => return Err(Refusal::bad("`format` must be svg or dot")),
            };
            let max_steps = amount(query, "max_steps", memory_core::logic::draw::Diagram::USUAL_STEPS)?;
            ProcedureRequest::Show { of: which(query)?, format, max_steps }
        }
    })
}

fn which(query: Fields<'_>) -> Result<WhichProcedure, Refusal> {
    let id = query
        .text("id")?
        .map(|id| id.parse().map_err(|_| Refusal::bad("`id` must be the id of a procedure such as \"p-7\"")));
    let which = WhichProcedure { id: id.transpose()?, goal: query.text("goal")?.map(str::to_owned) };
    if which == WhichProcedure::default() {
        return Err(Refusal::bad("name the procedure by `goal` or by `id`"));
    }
    Ok(which)
}

fn amount(query: Fields<'_>, name: &str, usual: usize) -> Result<usize, Refusal> {
    Ok(query.count(name)?.map_or(usual, |count| usize::try_from(count).unwrap_or(usize::MAX)))
}

fn constraints(query: Fields<'_>) -> Result<Constraints, Refusal> {
    let mut before = pairs(query, "before")?;
    before.extend(pairs(query, "after")?.into_iter().map(|(later, earlier)| (earlier, later)));
    Ok(Constraints {
        without: phrases(query, "without")?,
        with: phrases(query, "with")?,
        before,
        max_steps: query.count("max_steps")?.map(|steps| usize::try_from(steps).unwrap_or(usize::MAX)),
    })
}

fn phrases(query: Fields<'_>, name: &str) -> Result<Vec<Phrase>, Refusal> {
    let Some(value) = query.value(name) else { return Ok(Vec::new()) };
    let list = value.as_array().ok_or_else(|| wrong(name, "a list", value))?;
    list.iter().map(|item| phrase(name, item)).collect()
}

/// `"oven"`, or `{"tool": "oven"}` for one part alone.
fn phrase(name: &str, value: &Value) -> Result<Phrase, Refusal> {
    if let Value::String(text) = value {
        return Ok(Phrase::any(text.as_str()));
    }
    let parts = [Part::Step, Part::Object, Part::Tool, Part::Place, Part::Person];
    let named = value.as_object().filter(|map| map.len() == 1).and_then(|map| {
        parts.into_iter().find_map(|part| Some(Phrase::of_part(map.get(part_name(part))?.as_str()?, part)))
    });
    named.ok_or_else(|| {
        wrong(
            name,
            "a list of texts, or of objects such as {\"tool\": \"oven\"} (step, object, tool, place, person)",
            value,
        )
    })
}

/// `[["wash", "cut"], …]`, or one pair `["wash", "cut"]`.
fn pairs(query: Fields<'_>, name: &str) -> Result<Vec<(Phrase, Phrase)>, Refusal> {
    let Some(value) = query.value(name) else { return Ok(Vec::new()) };
    let wanted = "a list of pairs such as [[\"wash\", \"cut\"]]";
    let list = value.as_array().ok_or_else(|| wrong(name, wanted, value))?;
    let pair = |items: &[Value]| match items {
        [first, second] => Ok((phrase(name, first)?, phrase(name, second)?)),
        _ => Err(wrong(name, wanted, value)),
    };
    if list.len() == 2 && list.iter().all(|item| !item.is_array()) {
        return Ok(vec![pair(list)?]);
    }
    list.iter().map(|item| pair(item.as_array().ok_or_else(|| wrong(name, wanted, item))?)).collect()
}

const fn part_name(part: Part) -> &'static str {
    match part {
        Part::Step => "step",
        Part::Object => "object",
        Part::Tool => "tool",
        Part::Place => "place",
        Part::Person => "person",
    }
}

/// The answer of the contract.
pub fn render(reply: &ProcedureReply, zone: &TimeZone) -> Value {
    match reply {
        ProcedureReply::List(found) => {
            json!({"procedures": found.iter().map(|one| summary(one, None)).collect::<Vec<_>>()})
        }
        ProcedureReply::Procedure(found) => json!({"procedure": detail(found, zone)}),
        ProcedureReply::Paths(found) => Value::Object(paths_body(found)),
        ProcedureReply::Next(found) => json!({"next": likely(found)}),
        ProcedureReply::Missing { steps, things } => {
            let things = things.iter().map(|(part, name)| json!({"name": name, "part": part_name(*part)}));
            json!({"missing": likely(steps), "things": things.collect::<Vec<_>>()})
        }
        ProcedureReply::Alternatives(found) => alternatives(found),
        ProcedureReply::Behaviours(found) => {
            json!({"procedures": found.iter().map(|one| summary(one, Some(zone))).collect::<Vec<_>>()})
        }
        ProcedureReply::Picture { format, picture } => {
            let format = match format {
                PictureFormat::Svg => "svg",
                PictureFormat::Dot => "dot",
            };
            json!({"format": format, "picture": picture})
        }
    }
}

/// The payload of `…/event/procedure`.
pub fn news(news: &ProcedureNews) -> Value {
    let mut body =
        Map::from_iter([("type".to_owned(), json!(news.change)), ("id".to_owned(), news.id.to_string().into())]);
    if let Some(Value::Object(now)) = news.now.as_ref().map(|now| summary(now, None)) {
        body.extend(now);
    }
    body.into()
}

/// Six digits are more than any count supports, and shorter.
fn rounded(probability: f64) -> f64 {
    (probability * 1e6).round() / 1e6
}

fn likely(steps: &[LikelyStep]) -> Vec<Value> {
    steps.iter().map(|one| json!({"step": one.step, "probability": rounded(one.probability)})).collect()
}

fn summary(found: &ProcedureSummary, evidence_in: Option<&TimeZone>) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("id", found.id.to_string().into());
    put("goal", found.goal.as_str().into());
    put("named", found.named.into());
    put("candidate", found.candidate.into());
    put("steps", found.steps.into());
    put("sessions", found.sessions.into());
    if let Some(zone) = evidence_in {
        put("evidence", evidence(&found.evidence, zone));
    }
    body.into()
}

fn evidence(sessions: &[SessionEvidence], zone: &TimeZone) -> Value {
    let item = |session: &SessionEvidence| {
        json!({
            "session": session.session,
            "observations": session.observations,
            "start": session.span.start.format(zone),
            "end": session.span.end.format(zone),
        })
    };
    sessions.iter().map(item).collect()
}

fn detail(found: &ProcedureDetail, zone: &TimeZone) -> Value {
    let step = |step: &StepDetail| {
        let attributes: Map<String, Value> = step
            .attributes
            .iter()
            .map(|(part, names)| {
                let names: Map<String, Value> =
                    names.iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
                ([part_name(*part), "s"].concat(), names.into())
            })
            .collect();
        json!({
            "id": step.id,
            "text": step.text,
            "occurrence": step.occurrence,
            "count": step.count,
            "attributes": attributes,
            "duration_s": step.duration.map(|duration| rounded(duration.as_secs_f64())),
            "success": rounded(step.success),
            "facts": step.facts.iter().map(|linked| linked_fact(linked, zone)).collect::<Vec<_>>(),
        })
    };
    let edge = |edge: &memory_core::EdgeDetail| json!({"from": edge.from, "to": edge.to, "count": edge.count, "probability": rounded(edge.probability)});
    json!({
        "id": found.summary.id.to_string(),
        "goal": found.summary.goal,
        "named": found.summary.named,
        "candidate": found.summary.candidate,
        "steps": found.steps.iter().map(step).collect::<Vec<_>>(),
        "edges": found.edges.iter().map(edge).collect::<Vec<_>>(),
        "sessions": found.summary.sessions,
        "evidence": evidence(&found.summary.evidence, zone),
    })
}

/// A fact about a thing or a place of a step.
fn linked_fact(linked: &StepFact, zone: &TimeZone) -> Value {
    let fact = &linked.fact;
    let evidence: Vec<String> = fact.evidence.iter().map(ToString::to_string).collect();
    json!({
        "part": part_name(linked.part), "name": linked.name, "subject": fact.subject, "attribute": fact.attribute,
        "value": fact.value, "since": fact.since.format(zone), "weight": fact.weight, "blocks": linked.blocks,
        "evidence": evidence,
    })
}

fn paths_body(found: &Ways) -> Map<String, Value> {
    let way =
        |way: &memory_core::Way| json!({"steps": way.steps, "probability": rounded(way.probability), "seen": way.seen});
    Map::from_iter([
        ("paths".to_owned(), found.ways.iter().map(way).collect()),
        ("complete".to_owned(), found.complete.into()),
        ("guessed".to_owned(), found.guessed.into()),
    ])
}

fn alternatives(found: &Alternatives) -> Value {
    let remarks = |remarks: &[Remark]| -> Value {
        let item = |one: &Remark| json!({"thing": one.thing, "text": one.text, "observations": [one.observation]});
        remarks.iter().map(item).collect()
    };
    let others = found.others.iter().map(|one| json!({"step": one.step, "with": one.with, "seen": one.seen}));
    let mut body = paths_body(&found.ways);
    body.insert("blocked".to_owned(), found.blocked.clone().into());
    body.insert("because".to_owned(), remarks(&found.because));
    body.insert("others".to_owned(), others.collect());
    body.insert("offers".to_owned(), remarks(&found.offers));
    body.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(body: &Value) -> Result<ProcedureRequest, Refusal> {
        let Value::Object(map) = body else { panic!("an object") };
        read(Fields(map))
    }

    #[test]
    fn the_requests_of_the_contract_are_understood() {
        assert_eq!(
            request(&json!({"list": {"goal_like": null, "max": 100}})),
            Ok(ProcedureRequest::List { goal_like: None, max: 100 })
        );
        assert_eq!(
            request(&json!({"get": {"id": "p-7"}})),
            Ok(ProcedureRequest::Get(WhichProcedure { id: "p-7".parse().ok(), goal: None }))
        );
        let paths = json!({"paths": {"goal": "make salad", "without": ["oven", {"tool": "knife"}], "with": [], "max": 20,
            "before": [["wash", "cut"]], "after": [["mix", "cut"]], "max_steps": 5}});
        let Ok(ProcedureRequest::Paths { of, constraints, done, max }) = request(&paths) else { panic!("paths") };
        assert_eq!((of, done, max), (WhichProcedure::of_goal("make salad"), Vec::new(), 20));
        assert_eq!(constraints.without[1], Phrase::of_part("knife", Part::Tool));
        assert_eq!(constraints.before, [("wash".into(), "cut".into()), ("cut".into(), "mix".into())]);
        assert_eq!(constraints.max_steps, Some(5));
        assert_eq!(
            request(&json!({"next": {"goal": "make salad", "done": ["wash", "cut"], "k": 5}})),
            Ok(ProcedureRequest::Next {
                of: WhichProcedure::of_goal("make salad"),
                done: vec!["wash".into(), "cut".into()],
                k: 5
            })
        );
        assert_eq!(
            request(&json!({"behaviours": {"person": "Anna"}})),
            Ok(ProcedureRequest::Behaviours { person: "Anna".into() })
        );
    }

    #[test]
    fn hostile_requests_are_refused_with_what_to_change() {
        for (body, hint) in [
            (json!({}), "name a query"),
            (json!({"dance": {}}), "name a query"),
            (json!({"next": {"goal": "a"}, "paths": {"goal": "a"}}), "one by one"),
            (json!({"next": []}), "`next` must be an object"),
            (json!({"next": "make tea"}), "`next` must be an object"),
            (json!({"next": {}}), "`goal` or by `id`"),
            (json!({"next": {"goal": 7}}), "`goal` must be a text"),
            (json!({"next": {"goal": "a", "done": "b"}}), "`done` must be a list"),
            (json!({"next": {"goal": "a", "done": [1]}}), "`done` must be a list"),
            (json!({"next": {"goal": "a", "k": -1}}), "`k` must be a whole number"),
            (json!({"next": {"goal": "a", "k": 1e300}}), "`k` must be a whole number"),
            (json!({"get": {"id": "x"}}), "\"p-7\""),
            (json!({"get": {"id": 7}}), "`id` must be a text"),
            (json!({"paths": {"goal": "a", "without": "oven"}}), "`without` must be a list"),
            (json!({"paths": {"goal": "a", "without": [{"colour": "red"}]}}), "{\"tool\": \"oven\"}"),
            (json!({"paths": {"goal": "a", "without": [{"tool": "a", "object": "b"}]}}), "{\"tool\": \"oven\"}"),
            (json!({"paths": {"goal": "a", "before": ["wash"]}}), "a list of pairs"),
            (json!({"paths": {"goal": "a", "before": [["a", "b", "c"]]}}), "a list of pairs"),
            (json!({"behaviours": {}}), "`person` is missing"),
            (json!({"show": {"goal": "a", "format": "png"}}), "svg or dot"),
        ] {
            let refusal = request(&body).unwrap_err();
            assert!(refusal.message.contains(hint), "{body}: {}", refusal.message);
        }
    }

    #[test]
    fn a_huge_amount_is_as_much_as_there_is() {
        let body = json!({"next": {"goal": "a", "k": u64::MAX}});
        assert!(matches!(request(&body), Ok(ProcedureRequest::Next { .. })));
    }

    #[test]
    fn a_reply_reads_as_the_contract_says() {
        let reply = ProcedureReply::Paths(Ways {
            ways: vec![memory_core::Way { steps: vec!["boil".into(), "pour".into()], probability: 2.0 / 3.0, seen: 3 }],
            complete: true,
            guessed: false,
        });
        insta::assert_json_snapshot!(render(&reply, &TimeZone::UTC), @r#"
        {
          "complete": true,
          "guessed": false,
          "paths": [
            {
              "probability": 0.666667,
              "seen": 3,
              "steps": [
                "boil",
                "pour"
              ]
            }
          ]
        }
        "#);
    }
}

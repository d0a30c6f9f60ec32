//! Carries out one call of a tool: arguments to requests of the contract, and replies to a short result.

use serde_json::{Map, Value, json};

use super::access::{AccessError, MemoryAccess};
use super::arguments::Arguments;
use super::digest;
use super::tools::ToolName;

/// Deadline of a question, in milliseconds. It ends before the client's own timeout, so that the agent's reason arrives.
const DEADLINE_MS: u64 = 7_500;

/// Result of a call.
#[derive(Debug, PartialEq)]
pub enum CallOutcome {
    /// Words and numbers.
    Body(Value),
    /// A picture, base64, with its media type and what it shows.
    Picture { data: String, media_type: String, about: Value },
}

/// Carries it out.
///
/// # Errors
/// If the arguments make no request, or the agent refuses or is away.
pub async fn call(
    access: &MemoryAccess,
    tool: ToolName,
    arguments: &Arguments<'_>,
) -> Result<CallOutcome, AccessError> {
    let body = match tool {
        ToolName::Ask => digest::answer(&access.ask(question("question", arguments)?).await?),
        ToolName::SearchMemory => search(access, arguments).await?,
        ToolName::ListEpisodes => {
            let body = json!({
                "since": arguments.time("since")?, "until": arguments.time("until")?,
                "entity": arguments.value("entity"), "place": arguments.value("place"),
                "cursor": arguments.value("cursor"), "limit": arguments.count("limit"),
                "near": arguments.value("near"),
            });
            digest::episodes(&access.command("list", body).await?)
        }
        ToolName::GetEpisode => get(access, arguments).await?,
        ToolName::GetFacts => {
            let body = json!({
                "of": "facts", "about": arguments.value("about"), "past": arguments.flag("past"),
                "limit": arguments.count("limit"),
            });
            digest::facts(&access.command("list", body).await?)
        }
        ToolName::GetPersons => {
            let body = json!({ "of": "entities", "limit": arguments.count("limit") });
            digest::persons(&access.command("list", body).await?)
        }
        ToolName::GetProcedure => procedure(access, arguments).await?,
        ToolName::NextStep => {
            let done = arguments.value("done").cloned().unwrap_or_else(|| json!([]));
            let next = json!({ "goal": arguments.value("goal"), "done": done, "k": arguments.count("limit") });
            digest::next(&procedures(access, json!({ "next": next })).await?)
        }
        ToolName::GetPicture => return picture(access, arguments).await,
        ToolName::Observe => observe(access, arguments).await?,
        ToolName::GetStatus => status(access).await?,
        ToolName::Forget => forget(access, arguments).await?,
    };
    Ok(CallOutcome::Body(body))
}

fn question(named: &str, arguments: &Arguments<'_>) -> Result<Value, AccessError> {
    let mut body = json!({
        "question": arguments.text(named), "since": arguments.time("since")?, "until": arguments.time("until")?,
        "top_k": arguments.count("limit"), "deadline_ms": DEADLINE_MS, "near": arguments.value("near"),
    });
    if named == "question"
        && let Some(options) = arguments.value("options")
    {
        body["options"] = options.clone();
    }
    Ok(body)
}

/// Events that hold the words. Where none does, the nearest by meaning: a model may not know the words that were used.
async fn search(access: &MemoryAccess, arguments: &Arguments<'_>) -> Result<Value, AccessError> {
    let similar_to = arguments.text("similar_to");
    let mut query = arguments.text("query").unwrap_or_default().to_owned();
    if query.is_empty() && similar_to.is_none() {
        return Err(AccessError::bad("give words in `query`, or the id of an event or an episode in `similar_to`"));
    }
    for name in ["since", "until"] {
        if let Some(at) = arguments.time(name)?.as_str() {
            query.push_str(&format!(" {name}:\"{at}\""));
        }
    }
    let order = if arguments.flag("best") { "relevance" } else { "newest" };
    let mut body =
        json!({ "near": arguments.value("near"), "limit": arguments.count("limit"), "similar_to": similar_to });
    if !query.is_empty() {
        body["query"] = query.into();
    }
    if similar_to.is_none() {
        body["order"] = order.into();
    }
    let found = access.command("search", body).await?;
    if found["count"] != 0 || similar_to.is_some() {
        return Ok(digest::found(&found));
    }
    let mut short = digest::found(&found);
    // Only where its words, or some of them, make a question.
    if let Ok(answer) = access.ask(question("query", arguments)?).await {
        short["nearest_in_meaning"] = digest::nearest(&answer);
    }
    Ok(short)
}

/// The one of `episode` and `event` that a call names.
fn named<'a>(arguments: &'a Arguments<'_>) -> Result<(&'static str, &'a str), AccessError> {
    match (arguments.text("episode"), arguments.text("event")) {
        (Some(id), None) => Ok(("episode", id)),
        (None, Some(id)) => Ok(("event", id)),
        _ => Err(AccessError::bad("name either `episode`, such as ep-12, or `event`, such as ev-42")),
    }
}

async fn get(access: &MemoryAccess, arguments: &Arguments<'_>) -> Result<Value, AccessError> {
    let (what, id) = named(arguments)?;
    if what == "event" {
        return Ok(digest::event(&access.command("get", json!({ "event": id })).await?));
    }
    let body = json!({
        "episode": id, "limit": arguments.count("limit"), "cursor": arguments.value("cursor"),
    });
    Ok(digest::episode(&access.command("get", body).await?))
}

/// The picture of an event or an episode, as the contract returns it.
pub async fn picture_of(access: &MemoryAccess, id: &str, width: u64) -> Result<Value, AccessError> {
    let what = if id.starts_with("ep-") { "episode" } else { "event" };
    let mut reply = access.command("picture", json!({ what: id, "max_width": width })).await?;
    Ok(reply["picture"].take())
}

async fn picture(access: &MemoryAccess, arguments: &Arguments<'_>) -> Result<CallOutcome, AccessError> {
    let (_, id) = named(arguments)?;
    let mut picture = picture_of(access, id, arguments.count("width")).await?;
    let Value::String(data) = picture["data"].take() else {
        return Err(AccessError::new("internal", "the agent returned no picture"));
    };
    let media_type = picture["media_type"].as_str().unwrap_or("image/jpeg").to_owned();
    let mut about = Map::new();
    for name in ["event", "episode", "at", "source", "width", "height"] {
        if !picture[name].is_null() {
            about.insert(name.to_owned(), picture[name].take());
        }
    }
    Ok(CallOutcome::Picture { data, media_type, about: about.into() })
}

/// A query of `cmd/procedure`. Its advice is for clients of the contract; a model knows tools.
async fn procedures(access: &MemoryAccess, query: Value) -> Result<Value, AccessError> {
    access.command("procedure", query).await.map_err(|error| AccessError {
        message: error.message.replace("`list` names", "`get_procedure` without arguments lists"),
        ..error
    })
}

async fn procedure(access: &MemoryAccess, arguments: &Arguments<'_>) -> Result<Value, AccessError> {
    let which = match (arguments.value("goal"), arguments.value("id")) {
        (None, None) => {
            let list = json!({ "list": { "max": arguments.count("limit").max(20) } });
            return Ok(digest::tasks(&procedures(access, list).await?));
        }
        (Some(goal), None) => json!({ "goal": goal }),
        (None, Some(id)) => json!({ "id": id }),
        (Some(_), Some(_)) => return Err(AccessError::bad("name either `goal` or `id`")),
    };
    let found = procedures(access, json!({ "get": which })).await?;
    let mut query = json!({ "id": found["procedure"]["id"], "max": arguments.count("limit") });
    for name in ["without", "with"] {
        if let Some(phrases) = arguments.value(name) {
            query[name] = phrases.clone();
        }
    }
    let paths = procedures(access, json!({ "paths": query })).await?;
    Ok(digest::procedure(&found, &paths))
}

async fn observe(access: &MemoryAccess, arguments: &Arguments<'_>) -> Result<Value, AccessError> {
    // With an id and a time, telling it again after a cut connection is a duplicate and not a second event.
    let id = match arguments.text("id") {
        Some(id) => id.to_owned(),
        None => random_id()?,
    };
    let mut attributes = match arguments.value("attributes") {
        Some(Value::Object(attributes)) => attributes.clone(),
        _ => Map::new(),
    };
    if let Some(place) = arguments.value("place") {
        attributes.insert("place".to_owned(), place.clone());
    }
    let mut body = json!({
        "text": arguments.text("text"), "id": id, "source": arguments.text("source").unwrap_or("mcp"),
        "at": if arguments.text("at").is_some() { arguments.time("at")? } else { arguments.now() },
    });
    for name in ["kind", "entity", "confidence", "pose"] {
        if let Some(value) = arguments.value(name) {
            body[name] = value.clone();
        }
    }
    if !attributes.is_empty() {
        body["attributes"] = attributes.into();
    }
    let reply = access.observe(body).await?;
    match &reply["rejected"][0]["error"] {
        Value::Object(error) => {
            let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
            Err(AccessError::new(text("code"), text("message")))
        }
        _ => Ok(digest::observed(&reply, &id)),
    }
}

fn random_id() -> Result<String, AccessError> {
    let mut random = [0_u8; 12];
    getrandom::fill(&mut random).map_err(|error| AccessError::new("internal", error.to_string()))?;
    Ok(random.iter().fold("mcp-".to_owned(), |id, byte| id + &format!("{byte:02x}")))
}

async fn status(access: &MemoryAccess) -> Result<Value, AccessError> {
    let vitals = access.vitals().await?;
    Ok(digest::status(access.robot(), vitals.status.as_deref(), vitals.health.as_ref()))
}

async fn forget(access: &MemoryAccess, arguments: &Arguments<'_>) -> Result<Value, AccessError> {
    let mut body = json!({});
    for name in ["entity", "episodes"] {
        if let Some(value) = arguments.value(name) {
            body[name] = value.clone();
        }
    }
    for name in ["since", "until"] {
        if arguments.text(name).is_some() {
            body[name] = arguments.time(name)?;
        }
    }
    let confirmed = arguments.flag("confirm");
    let command = if confirmed { "forget" } else { "forget_preview" };
    Ok(digest::forgotten(&access.command(command, body).await?, confirmed))
}

//! Questions and commands that come over `…-ask`. Each is worked on by a task of its own, so the event loop never waits.

use std::sync::Arc;
use std::time::Duration;

use memory_core::{Pose, Timestamp, Turn};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::addressed::{AddressedRequest, read_request};
use super::ask::{QuestionRequest, read_question, refusal, render};
use super::client::Message;
use super::commands::{self, CommandName};
use super::context::{Context, POSE};
use super::entities::{self, List};
use super::episodes::{self, EventList, Get};
use super::fields::Fields;
use super::forget;
use super::forgetting::{self, Side};
use super::picture;
use super::places;
use super::pose;
use super::presence::instance_in;
use super::procedure;
use super::reply::{Code, Payload, Refusal, Route};
use super::search;
use super::topics::Inbound;
use super::upkeep;
use crate::service::{Dropped, ForgetFailure, ObserveFailure};

/// Maximum time of a command that reads or names.
const COMMAND_BUDGET: Duration = Duration::from_secs(10);
/// Maximum size of a pose, in bytes: 36 values of a covariance and their names.
const MAX_POSE_BYTES: usize = 4 << 10;
/// Minimum time that an answer waits for a connection.
const MIN_REPLY_TIMEOUT: Duration = Duration::from_secs(2);

/// Something about the presence of an engram on the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sign {
    /// The id of the memory that serves this robot name.
    Instance(String),
    /// Status of this robot name.
    Status(String),
    /// A health report that was published just now, by the memory with this id.
    Alive(String),
    /// An answer to this program's own request.
    Answer(String),
}

/// Takes messages from the event loop and passes them on without waiting.
pub struct Dispatcher {
    pub context: Arc<Context>,
    pub signs: mpsc::Sender<Sign>,
}

impl Dispatcher {
    pub fn dispatch(&self, message: Message) {
        self.context.homeassistant.hear(&message);
        let text = |message: &Message| String::from_utf8_lossy(&message.payload).into_owned();
        let sign = match self.context.topics.parse(&message.topic) {
            // What a broker has stored is nobody's question now, and it would come again with every connection.
            Some(Inbound::Ask | Inbound::Command(_)) if message.retained => return,
            // Where the robot was when it was last here says nothing of where it is.
            Some(Inbound::Pose) if message.retained => return,
            Some(Inbound::Pose) => return self.pose(&message),
            Some(Inbound::Ask) => return self.spawn(message, None),
            Some(Inbound::Command(name)) if name == CommandName::Forget.as_str() => return self.forget(message),
            Some(Inbound::Command(name)) => return self.spawn(message, Some(name)),
            Some(Inbound::Instance) => Sign::Instance(text(&message)),
            Some(Inbound::Status) => Sign::Status(text(&message)),
            Some(Inbound::Health) if !message.retained => match instance_in(&text(&message)) {
                Some(instance) => Sign::Alive(instance),
                None => return,
            },
            Some(Inbound::Answer(_)) => Sign::Answer(text(&message)),
            Some(Inbound::Health | Inbound::Observe) | None => return,
        };
        // More signs than fit say nothing that those before them did not.
        drop(self.signs.try_send(sign));
    }

    /// Takes up to 100 poses a second; reading more is the work that there is too much of.
    fn pose(&self, message: &Message) {
        let context = &self.context;
        if message.payload.len() > MAX_POSE_BYTES || !context.admit_pose() {
            return context.counters.poses_flood.increment();
        }
        let now = context.clock.now();
        let (pose, at) = match pose::read_robot_pose(&message.payload, now) {
            Ok(read) => read,
            Err(refusal) => {
                context.counters.poses_rejected.increment();
                // Said once: at 50 Hz it would fill the log.
                let problem = format!("a pose of the robot is refused: {}", refusal.message);
                return context.problem(POSE, Some(&problem));
            }
        };
        let counters = &context.counters;
        let followed = context.service.visit_is_due(at).then(|| pose.clone());
        match context.service.robot_path().push(pose, at, now) {
            Ok(()) => {
                counters.poses.increment();
                context.problem(POSE, None);
                if let Some(pose) = followed {
                    self.follow(&pose, at);
                }
            }
            Err(Dropped::Uncertain) => counters.poses_uncertain.increment(),
            Err(Dropped::Late) => counters.poses_late.increment(),
            Err(Dropped::Future) => counters.poses_future.increment(),
            Err(Dropped::OtherFrame) => counters.poses_other_frame.increment(),
        }
    }

    /// Remembers the places that the robot comes to and leaves; while recording is paused it does not.
    fn follow(&self, pose: &Pose, at: Timestamp) {
        let context = &self.context;
        let visits = match context.recording.paused() {
            true => context.service.end_visit().into_iter().collect(),
            false => context.service.follow(pose, at),
        };
        if !visits.is_empty() {
            let service = context.service.clone();
            context.requests.spawn(async move { service.remember_visits(visits).await });
        }
    }

    /// `…-in` takes it, in its order among the observations, if it can: it says so too where it is forbidden.
    fn forget(&self, message: Message) {
        let context = Arc::clone(&self.context);
        if context.leaving.is_cancelled() || CommandName::Forget.check_allowed(&context.config).is_err() {
            return;
        }
        let Some(place) = context.forgetting.wait() else { return };
        context.requests.clone().spawn(async move {
            tokio::time::sleep(forgetting::BEGIN_TIMEOUT).await;
            if context.forgetting.begin(forgetting::key(&message), Side::Ask, context.clock.monotonic()) {
                command_named(&context, CommandName::Forget.as_str(), &message).await;
            }
            drop(place);
        });
    }

    fn spawn(&self, message: Message, command: Option<String>) {
        let context = Arc::clone(&self.context);
        if context.leaving.is_cancelled() {
            return;
        }
        let Ok(slot) = Arc::clone(&context.slots).try_acquire_owned() else {
            context.counters.busy.increment();
            // Only what the packet itself says: reading payloads is the work that there is too much of.
            let route = context.router().route(&message, None);
            context.answer(&route, &route.error(&busy("too many requests at once")), MIN_REPLY_TIMEOUT);
            return;
        };
        let arrival = context.clock.monotonic();
        context.requests.clone().spawn(async move {
            match command {
                None => ask(&context, &message, arrival).await,
                Some(name) => command_named(&context, &name, &message).await,
            }
            drop(slot);
        });
    }
}

fn busy(why: &str) -> Refusal {
    Refusal::new(Code::Busy, format!("{why}; try again in a moment"))
}

async fn ask(context: &Context, message: &Message, arrival: Duration) {
    context.counters.asks.increment();
    let request = read_question(message, &context.router(), &context.config.limits, &context.moment());
    let route = request.route;
    let Some(address) = &route.address else {
        return unanswerable(context, request.body.err().as_ref());
    };
    // Held until the question is answered.
    let share = context.shares.take(&address.topic);
    let (body, patience) = match request.body {
        Ok(_) if share.is_none() => {
            (Err(busy("too many questions at once whose answers go to this topic")), MIN_REPLY_TIMEOUT)
        }
        Ok(_) if !context.admit() => {
            (Err(busy("more questions a second than mqtt.limits.asks_per_s")), MIN_REPLY_TIMEOUT)
        }
        Ok(asked) => {
            let patience = asked.query.budget.map_or(MIN_REPLY_TIMEOUT, |budget| budget.max(MIN_REPLY_TIMEOUT));
            (answer(context, &route, asked, arrival).await, patience)
        }
        Err(refusal) => (Err(refusal), MIN_REPLY_TIMEOUT),
    };
    let counters = &context.counters;
    match &body {
        Ok(_) => counters.asks_answered.increment(),
        Err(refusal) => {
            counters.asks_failed.increment();
            match refusal.code {
                Code::Busy => counters.busy.increment(),
                Code::Forbidden => counters.forbidden_replies.increment(),
                _ => {}
            }
        }
    }
    let body = body.unwrap_or_else(|refusal| route.error(&refusal));
    context.answer(&route, &body, patience);
}

pub(super) async fn answer(
    context: &Context,
    route: &Route,
    asked: QuestionRequest,
    arrival: Duration,
) -> Result<Value, Refusal> {
    let QuestionRequest { mut query, conversation } = asked;
    let question = query.question.clone();
    let goes_on = |id: &String| context.conversations.completed(id, &question, arrival);
    let understood = conversation.as_ref().and_then(goes_on);
    if let Some(complete) = &understood {
        query.question.clone_from(complete);
    }
    let complete = query.question.clone();
    let answer = context.service.ask(query).await.map_err(|failure| refusal(&failure))?;
    let now = context.clock.monotonic();
    if let Some(id) = conversation {
        context.conversations.note(id, Turn { question: complete, answer: answer.answer.clone() }, now);
    }
    let total = now.saturating_sub(arrival);
    Ok(render(&answer, &question, understood.as_deref(), route, total, &context.zone, &context.media))
}

fn unanswerable(context: &Context, refusal: Option<&Refusal>) {
    context.counters.unanswerable.increment();
    match refusal {
        Some(refusal) if refusal.code == Code::Forbidden => {
            context.counters.forbidden_replies.increment();
            tracing::warn!(reason = refusal.message, "a question names a reply topic that is not allowed");
        }
        _ => tracing::debug!(?refusal, "a question without a Response Topic, `reply_to` or `request_id`"),
    }
}

async fn command_named(context: &Context, name: &str, message: &Message) {
    context.counters.commands.increment();
    let ceiling = context.config.limits.ask_bytes;
    let empty = message.payload.iter().all(u8::is_ascii_whitespace);
    let request = if empty {
        // Buttons of a dashboard send nothing.
        AddressedRequest { route: context.router().route(message, None), body: Ok(serde_json::Map::new()) }
    } else {
        read_request(message, &context.router(), ceiling, |payload: &Payload| commands::fields(name, payload))
    };
    let request = request.only_if_answerable();
    let route = request.route;
    let outcome = async {
        let name = CommandName::parse(name)?;
        let fields = request.body?;
        if name == CommandName::Recording {
            CommandName::check_recording(commands::read_recording(Fields(&fields))?, &context.config)?;
        } else {
            name.check_allowed_to(&context.config, &context.proofs, &fields)?;
        }
        context.admit_command(name)?;
        if name.is_long() {
            let command = upkeep::read(context, name, Fields(&fields))?;
            context.answer(&route, &route.seal(json!({"state": "executing"})), MIN_REPLY_TIMEOUT);
            return Ok(upkeep::run(context, command).await);
        }
        run(context, name, Fields(&fields)).await
    }
    .await;
    let body = match outcome {
        Ok(body) => route.seal(body),
        Err(refusal) => {
            if refusal.code == Code::Busy {
                context.counters.busy.increment();
            }
            route.error(&refusal)
        }
    };
    context.answer(&route, &body, MIN_REPLY_TIMEOUT);
}

pub(super) async fn run(context: &Context, name: CommandName, fields: Fields<'_>) -> Result<Value, Refusal> {
    let failed = |failure| refusal(&failure);
    match name {
        CommandName::List => {
            if let Some(list) = EventList::read(fields)? {
                let wanted = list.clone();
                let read = context.service.list(COMMAND_BUDGET, move |memory, _| wanted.read_events(memory));
                let events = read.await.map_err(failed)?;
                return Ok(list.page(&events, &context.zone, &context.media));
            }
            if let Some(list) = List::read(fields, &context.moment())? {
                let zone = context.zone.clone();
                let read = context.service.list(COMMAND_BUDGET, move |memory, left| list.list(memory, &zone, left));
                return read.await.map_err(failed);
            }
            let filter = episodes::read_list(fields, &context.moment())?;
            let page = context.service.episodes(filter).await.map_err(failed)?;
            Ok(episodes::page(&page, &context.zone, &context.media))
        }
        CommandName::Get => match episodes::read_get(fields)? {
            Get::Episode(id, page) => match context.service.episode(id, page).await.map_err(failed)? {
                Some(page) => Ok(episodes::episode_page(&page, &context.zone, &context.media)),
                None => Err(Refusal::bad(format!("there is no episode {id}, or it was forgotten"))),
            },
            Get::Event(id) => match context.service.event(id).await.map_err(failed)? {
                Some(event) => Ok(episodes::event(&event, &context.zone, &context.media)),
                None => Err(Refusal::bad(format!("there is no event {id}, or it was forgotten"))),
            },
        },
        CommandName::NameEntity => {
            let request = entities::read_naming(fields)?;
            let persons = context.service.name_entity(request).await.map_err(failed)?;
            Ok(entities::named(&persons, &context.zone))
        }
        CommandName::NamePlace => places::run(context, fields).await,
        CommandName::Procedure => {
            let request = procedure::read(fields)?;
            let reply = context.service.procedure(request).await.map_err(failed)?;
            Ok(procedure::render(&reply, &context.zone))
        }
        CommandName::Picture => picture::run(context, fields).await,
        CommandName::Search => {
            let query = search::read(fields, &context.moment())?;
            let page = context.service.search_words(query.clone()).await.map_err(failed)?;
            Ok(search::render(&page, &query, &context.zone, &context.media))
        }
        CommandName::Pause | CommandName::Resume => set_recording(context, name == CommandName::Pause).await,
        CommandName::Recording => set_recording(context, commands::read_recording(fields)?).await,
        CommandName::Reload => reload(context).await,
        CommandName::Instance => Ok(json!({
            "instance": context.identity.instance,
            "robot": context.identity.robot,
            "version": context.identity.version,
        })),
        CommandName::ForgetPreview => {
            let request = forget::read_forget(fields, &context.moment())?;
            let preview = context.service.preview_forget(COMMAND_BUDGET, request).await.map_err(failed)?;
            Ok(forget::preview(&preview, &context.zone, &context.media))
        }
        CommandName::Forget => match context.service.forget(forget::read_forget(fields, &context.moment())?).await {
            Ok(reply) => Ok(forgetting::body(context, &reply)),
            Err(ForgetFailure::Invalid(message)) => Err(Refusal::bad(message)),
            Err(ForgetFailure::Write(ObserveFailure::StorageFull(message))) => {
                Err(Refusal::new(Code::StorageFull, message))
            }
            Err(other) => Err(Refusal::new(Code::Internal, other.to_string())),
        },
        // Long commands are done by now.
        CommandName::Backup
        | CommandName::Check
        | CommandName::Compact
        | CommandName::Export
        | CommandName::Restore
        | CommandName::Snapshot => Err(Refusal::new(Code::Internal, "the command came over the wrong connection")),
    }
}

async fn reload(context: &Context) -> Result<Value, Refusal> {
    let configuration = Arc::clone(&context.configuration);
    match tokio::task::spawn_blocking(move || configuration.reload()).await {
        Ok(Ok(reloaded)) => Ok(json!({"state": "succeeded", "applied": reloaded.applied, "restart": reloaded.restart})),
        Ok(Err(why)) => Err(Refusal::bad(why)),
        Err(panic) => Err(Refusal::new(Code::Internal, panic.to_string())),
    }
}

async fn set_recording(context: &Context, pause: bool) -> Result<Value, Refusal> {
    let recording = Arc::clone(&context.recording);
    // Stopping a pipeline may take a moment.
    let outcome = tokio::task::spawn_blocking(move || {
        if pause { recording.pause() } else { recording.resume() }.map(|()| recording.paused())
    })
    .await;
    context.recording_changed.notify_one();
    match outcome {
        Ok(Ok(paused)) => Ok(json!({"state": "succeeded", "paused": paused})),
        Ok(Err(why)) => Err(Refusal::new(Code::Internal, why)),
        Err(panic) => Err(Refusal::new(Code::Internal, panic.to_string())),
    }
}

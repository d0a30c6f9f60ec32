//! The protocol's requests: the lists, and calls with their errors.

use std::sync::Arc;

use memory_core::{Clock, Timestamp};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::access::{AccessError, MemoryAccess};
use super::arguments::Arguments;
use super::calls::{CallOutcome, call};
use super::{Options, resources, tools};

/// Read by the model at the start of a session.
const INSTRUCTIONS: &str = "The long-term memory of a robot: what its cameras saw, its microphones heard and its programs \
told it. Ask with `ask`; every answer names its evidence and the probability that it is right. A null answer means that \
the memory holds no evidence. Every result has `now`, the time at the robot. Tell new things with `observe`.";

/// One memory as a server. Clones share it.
#[derive(Clone)]
pub struct MemoryServer {
    access: Arc<MemoryAccess>,
    clock: Arc<dyn Clock>,
    options: Options,
}

impl MemoryServer {
    /// Creates a server of the memory that `access` leads to.
    pub fn new(access: Arc<MemoryAccess>, clock: Arc<dyn Clock>, options: Options) -> Self {
        Self { access, clock, options }
    }

    async fn called(&self, request: CallToolRequestParams, now: Timestamp) -> Result<CallToolResult, ErrorData> {
        let Some(spec) = tools::find(&request.name, self.options.forget) else {
            let known: Vec<&str> = tools::offered(self.options.forget).map(|spec| spec.name).collect();
            let name: String = request.name.chars().take(64).collect();
            let message = match tools::find(&request.name, true) {
                Some(_) => {
                    format!("`{name}` is not allowed here; it needs `engram mcp --allow-forget`, or mcp.forget = true")
                }
                None => format!("there is no tool `{name}`; the tools are {}", known.join(", ")),
            };
            return Err(ErrorData::invalid_params(message, None));
        };
        let given = request.arguments.unwrap_or_default();
        let arguments = Arguments::read(spec.parameters, given, now, &self.options.zone);
        let outcome = match arguments {
            Ok(arguments) => call(&self.access, spec.tool, &arguments).await,
            Err(error) => Err(error),
        };
        let now = self.clock.now();
        Ok(match outcome {
            Ok(CallOutcome::Body(body)) => CallToolResult::success(vec![self.text(body, now)]),
            Ok(CallOutcome::Picture { data, media_type, about }) => {
                CallToolResult::success(vec![ContentBlock::image(data, media_type), self.text(about, now)])
            }
            // What the model can read, it can correct.
            Err(error) => CallToolResult::error(vec![self.text(json!({ "error": error.body() }), now)]),
        })
    }

    fn text(&self, mut body: Value, now: Timestamp) -> ContentBlock {
        body["now"] = now.format(&self.options.zone).into();
        ContentBlock::text(body.to_string())
    }
}

impl ServerHandler for MemoryServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("engram", crate::build_info::VERSION).with_title("Robot memory"))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let offered = tools::offered(self.options.forget).map(tools::ToolSpec::describe).collect();
        Ok(ListToolsResult::with_all_items(offered))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.called(request, self.clock.now()).await.map(Into::into)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::fixed()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let now = self.clock.now().format(&self.options.zone);
        let read = resources::read(&self.access, &request.uri, &now).await;
        read.map(Into::into).map_err(|error| refused(&error))
    }
}

/// A resource has no place for an error but the protocol's own.
fn refused(error: &AccessError) -> ErrorData {
    match error.code.as_str() {
        "bad_request" => ErrorData::resource_not_found(error.message.clone(), Some(error.body())),
        _ => ErrorData::internal_error(error.message.clone(), Some(error.body())),
    }
}

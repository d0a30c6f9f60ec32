"""The client of Engram, the long-term memory of a robot.

`Memory` is for programs and notebooks, `AsyncMemory` for asyncio; both have the same methods::

    from engram import Memory

    memory = Memory("kitchen", "robot.local")
    memory.observe("I put the blue mug on the shelf.", entity="Anna")
    print(memory.ask("Where is the blue mug?"))
"""

from ._address import TLS
from ._calls import Phrase
from ._display import Listing
from ._json import When
from .aio import AsyncMemory, AsyncNewsStream
from .errors import (
    AccessDenied,
    AgentOffline,
    BadRequest,
    Busy,
    Closed,
    ConnectionFailed,
    DeadlineExceeded,
    EngramError,
    Forbidden,
    InternalError,
    ProtocolError,
    Rejected,
    RequestError,
    StorageFull,
    TimedOut,
    TooLarge,
)
from .memory import Memory, NewsStream
from .observing import Kind, Observation, Receipt, RejectedItem, Told
from .posing import Circle, Near, Pose
from .procedures import (
    Alternatives,
    Edge,
    Missing,
    NextStep,
    OtherStep,
    Picture,
    Procedure,
    ProcedureSummary,
    Remark,
    Session,
    Step,
    Thing,
    Way,
    Ways,
)
from .remembering import (
    Answer,
    Elapsed,
    Entities,
    Entity,
    Episode,
    EpisodeSummary,
    Event,
    Evidence,
    Fact,
    Forgotten,
    Found,
    Gist,
    GistLine,
    Person,
    SearchResult,
    TraceStep,
    WordCount,
)
from .status import (
    Backup,
    Compacted,
    Export,
    Health,
    Instance,
    MemoryHealth,
    ModelHealth,
    News,
    Reloaded,
    Snapshot,
    SourceHealth,
)

__version__ = "0.1.0"

__all__ = [
    "TLS",
    "AccessDenied",
    "AgentOffline",
    "Alternatives",
    "Answer",
    "AsyncMemory",
    "AsyncNewsStream",
    "Backup",
    "BadRequest",
    "Busy",
    "Circle",
    "Closed",
    "Compacted",
    "ConnectionFailed",
    "DeadlineExceeded",
    "Edge",
    "Elapsed",
    "EngramError",
    "Entities",
    "Entity",
    "Episode",
    "EpisodeSummary",
    "Event",
    "Evidence",
    "Export",
    "Fact",
    "Forbidden",
    "Forgotten",
    "Found",
    "Gist",
    "GistLine",
    "Health",
    "Instance",
    "InternalError",
    "Kind",
    "Listing",
    "Memory",
    "MemoryHealth",
    "Missing",
    "ModelHealth",
    "Near",
    "News",
    "NewsStream",
    "NextStep",
    "Observation",
    "OtherStep",
    "Person",
    "Phrase",
    "Picture",
    "Pose",
    "Procedure",
    "ProcedureSummary",
    "ProtocolError",
    "Receipt",
    "Rejected",
    "RejectedItem",
    "Reloaded",
    "Remark",
    "RequestError",
    "SearchResult",
    "Session",
    "Snapshot",
    "SourceHealth",
    "Step",
    "StorageFull",
    "Thing",
    "TimedOut",
    "Told",
    "TooLarge",
    "TraceStep",
    "Way",
    "Ways",
    "When",
    "WordCount",
]

"""The declaration of a tool, and the wrappers around each of its calls."""

import inspect
import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import cache, partial, wraps
from typing import Any

from .calls import remote_user
from .errors import ToolError
from .files import exclusive_lock
from .json_types import JsonObject
from .mcp_apps import Page
from .parameters import Parameters
from .settings import masked
from .toolsets import offers, only_reads

Function = Callable[..., Any]

TOOLS: dict[str, "Tool"] = {}


class Declaration:
    """A decorator that declares a function; `write`: the function changes something, or leads to changes."""

    function: Function
    toolset: str
    write = False

    def __call__(self, function: Function) -> Function:
        self.function = function
        self.toolset = toolset_of(function)
        self.register()
        return function

    def register(self) -> None:
        """Put the declaration into its registry."""

    @property
    def is_offered(self) -> bool:
        """True if the settings offer it to the current caller: read-only mode hides what writes."""
        return offers(self.toolset) and not (self.write and only_reads(self.toolset))


@dataclass(eq=False)
class Tool(Declaration):
    """Declare a plain function as a tool. Its signature and annotations give schema and validation, its
    docstring the description, and what it returns is the answer. The decorator returns it unchanged."""

    name: str  # with its toolset in front or not: `greet`, `anki.add_notes`
    _: KW_ONLY
    title: str = ""  # the name that people see
    order: int = 50  # its place among the tools of its toolset (then by name)
    write: bool = False  # writers run one at a time
    destructive: bool = False  # it may remove or overwrite
    idempotent: bool = False  # a second call of a writer changes nothing more
    open_world: bool = False  # it reaches beyond this machine
    # Raises ToolError if the tool's backend is not there.
    requires: Callable[[], None] | None = None
    # Its answer is a JSON object with `"success": true`, whatever the function returns.
    envelope: bool = False
    lock: bool = True  # False if the backend itself puts writers in order
    # Gets the arguments of a call unread: for a toolset with argument errors of its own.
    on_call: Callable[["Tool", JsonObject], Any] | None = None
    # Returns a text at the end of the description, or "".
    description_suffix: Callable[[], str] = str
    # In read-only mode it replaces the writer of its name, and only reads.
    read_only_variant: bool = False
    page: Page | None = None  # shown beside its answer by clients that show pages
    app_only: bool = False  # only such a page may call it; no other client has it

    def register(self) -> None:
        self.title = self.title or self.name.replace("_", " ").replace(".", ": ").capitalize()
        self.parameters = Parameters(self.listed_name, self.function)
        handler = self.function
        for wrapper in WRAPPERS:
            handler = partial(wrapper, handler, self)
        self.handler = wraps(self.function)(handler)
        key = f"{self.name}:read" if self.read_only_variant else self.name
        TOOLS[key] = self

    @property
    def listed_name(self) -> str:
        """The name without dots: several clients drop every tool of a server that lists a dotted one."""
        return self.name.replace(".", "_")

    @property
    def names(self) -> tuple[str, str]:
        """Both spellings of its name, which calls may use."""
        return self.name, self.listed_name

    @property
    def schema(self) -> JsonObject:
        """The JSON Schema of its arguments; closed for a tool with `on_call`, as OnePercent's contract
        requires, and for one without arguments, as the protocol recommends."""
        schema = self.parameters.schema
        is_closed = self.on_call or not schema["properties"]
        return {**schema, "additionalProperties": False} if is_closed else schema

    @property
    def description(self) -> str:
        """The text for the model: the docstring down to its `Source:` line, and the current suffix."""
        return f"{description(self.function)} {self.description_suffix()}".strip()

    def call(self, arguments: JsonObject) -> Any:
        """The answer to a call with arguments as a client sent them."""
        if self.on_call:
            return self.on_call(self, arguments)
        try:
            values = self.parameters.parse(arguments)
        except ToolError as error:
            return error.answer()
        return self.handler(**values)


@cache
def description(function: Function) -> str:
    """A docstring down to its `Source:` line, each paragraph one line."""
    text, _, _ = (inspect.getdoc(function) or "").partition("\nSource:")
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text.strip())  # single line breaks


def toolset_of(function: Callable[..., object]) -> str:
    """The toolset whose module declares `function`."""
    return function.__module__.split(".")[1]


# The wrappers, one concern each. Each gets the function that it wraps, the declaration, and the arguments.


def responding(call: Function, tool: Tool, /, **arguments: object) -> object:
    """Make the answer of a tool that declares an `envelope` a JSON object with `"success": true`."""
    answer = call(**arguments)
    return enveloped(answer) if tool.envelope else answer


def enveloped(answer: object) -> JsonObject:
    """An answer as {"success": true, …}: the members of an object, or anything else but None as `result`."""
    if answer is None:
        return {"success": True}
    if isinstance(answer, dict):
        return answer if "success" in answer else {"success": True, **answer}
    return {"success": True, "result": answer}


def locking(call: Function, tool: Tool, /, **arguments: object) -> object:
    """Run the writers of one toolset one at a time, across threads and processes."""
    with exclusive_lock(tool.toolset) if tool.write and tool.lock else nullcontext():
        return call(**arguments)


def requiring(call: Function, tool: Tool, /, **arguments: object) -> object:
    """Check first that the tool's backend is there. Raises ToolError that says how to get it."""
    if tool.requires:
        tool.requires()
    return call(**arguments)


def catching(call: Function, tool: Tool, /, **arguments: object) -> object:
    """Make every failure an answer with a hint. An unforeseen one is logged, and only a local client gets its
    text."""
    try:
        return call(**arguments)
    except ToolError as error:
        return error.answer()
    except (Exception, SystemExit) as error:
        import logging

        logging.getLogger(__name__).exception("%s failed", tool.name)
        # Over HTTP they stay in the log.
        details = "" if remote_user() else f": {type(error).__name__}: {masked(str(error))}"
        return ToolError(
            f"Internal error in {tool.name}{details}",
            "This is a fault of the server, not of the call. Its log (stderr) has the details.",
            "INTERNAL_ERROR",
        ).answer()


# Innermost first.
WRAPPERS = (responding, locking, requiring, catching)

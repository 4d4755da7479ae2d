"""The same client for asyncio. The standard library has no HTTP client of its own for it, so calls run in threads."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Iterator, List, Optional, TypeVar

from ._client import ACE, Apps, Catalog, Connections, CustomConnectors, Files, Link, Runs, Tools, Triggers
from ._http import Transport
from ._objects import Connection, Object

if TYPE_CHECKING:  # type checkers know this module; nothing of it is imported when the program runs
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

S = TypeVar("S")
T = TypeVar("T")


async def _in_thread(function: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(None, function)


def _coroutine(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[Any, P], Awaitable[T]]:
    """Returns a method that runs ``method`` of the part in a thread."""

    @functools.wraps(method)
    async def call(self: Any, /, *args: P.args, **options: P.kwargs) -> T:
        return await _in_thread(functools.partial(method, self._part, *args, **options))

    return call


def _link(method: Callable[Concatenate[S, P], Link]) -> Callable[Concatenate[Any, P], Awaitable[AsyncLink]]:
    @functools.wraps(method)
    async def call(self: Any, /, *args: P.args, **options: P.kwargs) -> AsyncLink:
        return AsyncLink(await _in_thread(functools.partial(method, self._part, *args, **options)))

    return call


def _whole(method: Callable[Concatenate[S, P], Iterator[T]]) -> Callable[Concatenate[Any, P], Awaitable[List[T]]]:
    """Returns a method that reads every page and returns one list."""

    @functools.wraps(method)
    async def call(self: Any, /, *args: P.args, **options: P.kwargs) -> List[T]:
        return await _in_thread(lambda: list(method(self._part, *args, **options)))

    return call


class AsyncLink(Object):
    """A link that a person opens to connect an app; ``await link.wait()`` waits for them."""

    url: str
    session_id: str

    def __init__(self, link: Link) -> None:
        super().__init__(link)
        object.__setattr__(self, "_link", link)

    async def wait(self, timeout: float = 600.0) -> Connection:
        """Waits until the person has connected the app, and returns the connection. Raises as Link.wait does."""
        link: Link = object.__getattribute__(self, "_link")
        return await _in_thread(lambda: link.wait(timeout))


class _AsyncPart:
    def __init__(self, part: Any) -> None:
        self._part = part


class AsyncCatalog(_AsyncPart):
    list = _coroutine(Catalog.list)
    all = _whole(Catalog.all)


class AsyncApps(_AsyncPart):
    search = _coroutine(Apps.search)
    connect = _link(Apps.connect)
    session = _coroutine(Apps.session)
    cancel = _coroutine(Apps.cancel)
    confirm = _coroutine(Apps.confirm)
    request = _coroutine(Apps.request)


class AsyncConnections(_AsyncPart):
    list = _coroutine(Connections.list)
    all = _whole(Connections.all)
    get = _coroutine(Connections.get)
    update = _coroutine(Connections.update)
    delete = _coroutine(Connections.delete)
    check = _coroutine(Connections.check)


class AsyncTools(_AsyncPart):
    find = _coroutine(Tools.find)
    get = _coroutine(Tools.get)
    definitions = _coroutine(Tools.definitions)
    run = _coroutine(Tools.run)
    run_all = _coroutine(Tools.run_all)


class AsyncCustomConnectors(_AsyncPart):
    create = _coroutine(CustomConnectors.create)
    list = _coroutine(CustomConnectors.list)
    get = _coroutine(CustomConnectors.get)
    update = _coroutine(CustomConnectors.update)
    refresh = _coroutine(CustomConnectors.refresh)
    test = _coroutine(CustomConnectors.test)
    delete = _coroutine(CustomConnectors.delete)


class AsyncTriggers(_AsyncPart):
    definitions = _coroutine(Triggers.definitions)
    create = _coroutine(Triggers.create)
    list = _coroutine(Triggers.list)
    all = _whole(Triggers.all)
    get = _coroutine(Triggers.get)
    update = _coroutine(Triggers.update)
    pause = _coroutine(Triggers.pause)
    resume = _coroutine(Triggers.resume)
    delete = _coroutine(Triggers.delete)
    events = _coroutine(Triggers.events)
    event = _coroutine(Triggers.event)
    replay = _coroutine(Triggers.replay)
    replay_failed = _coroutine(Triggers.replay_failed)
    test = _coroutine(Triggers.test)
    rotate_secret = _coroutine(Triggers.rotate_secret)


class AsyncRuns(_AsyncPart):
    get = _coroutine(Runs.get)
    list = _coroutine(Runs.list)
    output = _coroutine(Runs.output)
    cancel = _coroutine(Runs.cancel)
    wait = _coroutine(Runs.wait)


class AsyncFiles(_AsyncPart):
    upload = _coroutine(Files.upload)
    download = _coroutine(Files.download)


class AsyncACE:
    """A client whose methods are coroutines: the names and arguments of ACE."""

    def __init__(
        self,
        api_key: Optional[str] = None,
        *,
        base_url: Optional[str] = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        end_user: Optional[str] = None,
        user_agent: Optional[str] = None,
        transport: Optional[Transport] = None,
    ) -> None:
        client = ACE(
            api_key,
            base_url=base_url,
            timeout=timeout,
            max_retries=max_retries,
            end_user=end_user,
            user_agent=user_agent,
            transport=transport,
        )
        self._sync = client
        self.catalog = AsyncCatalog(client.catalog)
        self.apps = AsyncApps(client.apps)
        self.connections = AsyncConnections(client.connections)
        self.tools = AsyncTools(client.tools)
        self.custom_connectors = AsyncCustomConnectors(client.custom_connectors)
        self.triggers = AsyncTriggers(client.triggers)
        self.runs = AsyncRuns(client.runs)
        self.files = AsyncFiles(client.files)

    async def me(self) -> Object:
        """Returns the account, the key, its permissions and limits."""
        return await _in_thread(self._sync.me)

    async def __aenter__(self) -> AsyncACE:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._sync.close()

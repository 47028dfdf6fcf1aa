"""A model on the loopback interface that says what a script tells it, and keeps what it heard."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import TYPE_CHECKING, Self

from harness.rig import wire
from harness.rig.dialect import BAD_REQUEST, NOT_FOUND, OK, TOO_LARGE, Answer
from harness.rig.rig_error import RigError
from harness.rig.script import Script
from harness.rig.seen import Kind, received

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from harness.rig.dialect import Dialect
    from harness.rig.script import Reply, Rule
    from harness.rig.seen import Request
    from standfast.formats.document_limits import Value

BODY_LIMIT = 64 * 1024 * 1024


class NeverAsked(RigError):
    """A request that the story waits for did not come in time."""


class Model:
    """Serves until closed. *rules* may grow while it does: `model.script.rules.append`.

    It speaks the Messages API of Claude Code, unless another *dialect* (wire_*.py) is given.
    """

    def __init__(self, rules: Iterable[Rule] = (), dialect: Dialect = wire) -> None:
        self.dialect = dialect
        self.script = Script(rules)
        self.requests: list[Request] = []
        self._tasks: list[str] = []
        self._holding = True
        self._changed = Condition()
        self._server = _Server(self)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """What the client is told to ask, such as ANTHROPIC_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def of(self, kind: Kind) -> list[Request]:
        """The requests of one kind, in order."""
        with self._changed:
            return [request for request in self.requests if request.kind is kind]

    def wait_for(self, wanted: Callable[[Request], bool], *, deadline_s: float = 240) -> Request:
        """The first request that is *wanted*, waited for if it has not come yet."""
        with self._changed:
            self._changed.wait_for(lambda: any(map(wanted, self.requests)), deadline_s)
            for request in self.requests:
                if wanted(request):
                    return request
            heard = ", ".join(request.kind for request in self.requests) or "nothing"
        raise NeverAsked(f"no such request within {deadline_s:g} s; heard: {heard}")

    def let_go(self) -> None:
        """Say what is held back, and hold nothing from now on."""
        with self._changed:
            self._holding = False
            self._changed.notify_all()

    def hear(self, path: str, headers: dict[str, str], body: dict[str, Value]) -> Reply:
        """Take one request in, and give the reply when it may be said."""
        with self._changed:
            request = received(path, headers, self.dialect.heard(path, body), self._tasks)
            self.requests.append(request)
            reply = self.script.answer(request)
            self._tasks += reply.tasks
            self._changed.notify_all()
            if reply.hold:
                self._changed.wait_for(lambda: not self._holding)
        return reply

    def close(self) -> None:
        """Stop serving."""
        self.let_go()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client that was killed may leave its connection open

    def __init__(self, model: Model) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that is killed breaks its connections: no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Say nothing: what was asked is in the model's requests."""

    def do_HEAD(self) -> None:
        """Clients look whether somebody is there."""
        self._send(Answer(b""))

    def do_GET(self) -> None:
        """There is nothing to get, and the root to look at."""
        self._send(Answer(b"{}", OK if self.path == "/" else NOT_FOUND))

    def do_POST(self) -> None:
        """The API of the dialect; anything else is not here."""
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > BODY_LIMIT:
            self.close_connection = True
            self._refuse(TOO_LARGE, "a body of a known, bounded size is needed")
            return
        data = self.rfile.read(int(length))
        if not self.server.model.dialect.serves(self.path):
            self._refuse(NOT_FOUND, "not here")
            return
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            self._refuse(BAD_REQUEST, "a JSON object is needed")
            return
        reply = self.server.model.hear(self.path, dict(self.headers), body)
        self._send(self.server.model.dialect.answer(reply, self.path, body))

    def _refuse(self, status: int, message: str) -> None:
        self._send(Answer(self.server.model.dialect.error(status, message), status))

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", answer.kind)
        self.send_header("content-length", str(len(answer.data)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != OK:
            self.send_header("connection", "close")  # who asks again finds out whether we are here
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.data)

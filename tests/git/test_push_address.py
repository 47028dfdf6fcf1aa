"""The way out is the user's word: no setting of a repository has a say in how a push is made."""

import base64
import http.server
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lane_runs import BRANCH, WRITES, Lane, build
from standfast.runs import vouched_lanes
from standfast.runs.vouched_lanes import Where

pytestmark = pytest.mark.req("SEC-03", "SEC-09")

KEY = "Basic " + base64.b64encode(b"me:TOPSECRET").decode()


def served(top: Path, asked: http.server.BaseHTTPRequestHandler) -> bytes:
    """What git itself answers for the repositories there."""
    path, _, query = asked.path.partition("?")
    data = asked.rfile.read(int(asked.headers.get("Content-Length") or 0))
    env = {**os.environ, "GIT_PROJECT_ROOT": str(top), "GIT_HTTP_EXPORT_ALL": "1",
           "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": asked.command,
           "CONTENT_TYPE": asked.headers.get("Content-Type", ""), "REMOTE_USER": "me"}  # fmt: skip
    done = subprocess.run(
        ["git", "http-backend"], input=data, env=env, capture_output=True, check=True
    )
    head = b"HTTP/1.0 200 OK\r\nSet-Cookie: a=b; Path=/; Max-Age=99999\r\n"
    return head + done.stdout


class Server:
    """A machine of somebody's: it asks for keys, has nothing, and remembers who asked it for what.

    As a proxy it is asked for whole addresses.
    """

    def __init__(self, top: Path | None = None) -> None:
        seen: list[tuple[str, str | None, str | None]] = []

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                own, extra = self.headers.get("Authorization"), self.headers.get("X-Extra")
                seen.append((self.path, own, extra))
                if own is not None and top is not None:
                    self.wfile.write(served(top, self))
                    return
                self.send_response(401 if own is None else 404)
                self.send_header("WWW-Authenticate", 'Basic realm="x"')
                self.send_header("Set-Cookie", "a=b; Path=/; Max-Age=99999")
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_POST = do_GET  # noqa: N815  # as it is called

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.seen = seen
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.port = self.http.server_address[1]
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def keys(self) -> list[str | None]:
        return [key for _, key, _ in self.seen if key is not None]


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    """The one that is trusted, and somebody else's."""
    both = Server(), Server()
    yield both
    for each in both:
        each.http.shutdown()
        each.http.server_close()


@pytest.fixture
def lane(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lane:
    """A user with keys and settings of their own."""
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "gh").write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    (programs / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return build(tmp_path)


def own(tmp_path: Path, text: str, name: str = "gitconfig") -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")


def keys(tmp_path: Path, server: Server) -> str:
    """A helper of the user's that has keys for this machine alone."""
    port = f"127.0.0.1%3a{server.port}"
    store = tmp_path / "keys"
    store.write_text(f"http://me:TOPSECRET@{port}\nhttp://me:TOPSECRET@trusted.invalid%3a"
                     f"{server.port}\n", encoding="utf-8")  # fmt: skip
    return f"[credential]\n\thelper = store --file={store}\n"


def trust(lane: Lane, path: Path) -> None:
    here = Where(os.environ["XDG_STATE_HOME"], str(lane.repo / ".git/standfast"), str(lane.repo))
    vouched_lanes.trust_addresses(here, [str(path)], "ann")


def remote(lane: Lane, path: Path) -> Path:
    lane.git("init", "-q", "--bare", str(path))
    lane.git("remote", "add", "origin", str(path))
    trust(lane, path)
    return path


HOSTILE = [
    ("http.proxy", "{evil}"),
    ("http.{good}.proxy", "{evil}"),
    ("remote.origin.proxy", "{evil}"),
    ("http.curloptResolve", "trusted.invalid:{port}:127.0.0.1"),
    ("http.extraHeader", "X-Extra: planted"),
    ("http.{good}.extraHeader", "X-Extra: planted"),
    ("credential.helper", "!echo username=x; :"),
    ("credential.{good}.helper", "!:"),
    ("credential.username", "planted"),
]


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("key", "value"), HOSTILE, ids=[key for key, _ in HOSTILE])
@pytest.mark.parametrize("who", ["repository", "agent"])
def test_keys_go_to_the_trusted_machine_alone_and_as_the_user_says(
    lane: Lane, tmp_path: Path, servers: tuple[Server, Server], key: str, value: str, who: str
) -> None:
    good, evil = servers
    own(tmp_path, keys(tmp_path, good))
    host = "trusted.invalid" if "Resolve" in key else "127.0.0.1"
    address = f"http://{host}:{good.port}"
    lane.git("remote", "add", "origin", f"{address}/me/r.git")
    fill = {"good": address, "evil": evil.url, "port": good.port}
    words = ("config", key.format(**fill), value.format(**fill))
    if who == "repository":
        lane.git(*words)
    agent = tmp_path / "agent"
    said = " ".join(f"'{each}'" for each in words) if who == "agent" else "version"
    agent.write_text(f"git {said}\n{WRITES}\n", encoding="utf-8")

    done = lane.run(f"sh {agent}", "--merge", "pr")

    assert done.returncode == 1, done.stderr
    assert "could not be pushed" in done.stderr
    assert key.partition(".")[0] not in {"http", "credential"} or "not used" in done.stderr
    assert evil.seen == []
    assert [extra for _, _, extra in good.seen if extra] == []
    assert set(good.keys) == (set() if "Resolve" in key else {KEY})


def test_file_of_the_users_is_not_written_over_with_cookies(lane: Lane, tmp_path: Path) -> None:
    mine = tmp_path / "bashrc"
    mine.write_text("alias ll='ls -l'\n", encoding="utf-8")
    lane.git("init", "-q", "--bare", str(tmp_path / "x.git"))
    server = Server(tmp_path)
    own(tmp_path, keys(tmp_path, server))
    lane.git("remote", "add", "origin", f"{server.url}/x.git")
    lane.git("config", "http.cookieFile", str(mine))
    lane.git("config", "http.saveCookies", "true")

    done = lane.run(WRITES, "--merge", "pr")

    server.http.shutdown()
    server.http.server_close()
    assert done.returncode == 0, done.stderr
    assert mine.read_text(encoding="utf-8") == "alias ll='ls -l'\n"


def test_push_takes_one_branch_along_and_nothing_that_the_repository_asks_for(
    lane: Lane, tmp_path: Path
) -> None:
    there = remote(lane, tmp_path / "good.git")
    lane.git("config", "receive.advertisePushOptions", "true", cwd=there)
    hook = there / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nenv | grep PUSH_OPT > '{tmp_path}/options'\n", encoding="utf-8")
    hook.chmod(0o755)
    lane.git("tag", "-a", "-m", "t", "secret-tag")
    for key, value in (("push.followTags", "true"), ("push.pushOption", "merge.at.once"),
                       ("remote.origin.push", "refs/heads/*:refs/heads/*"),
                       ("remote.origin.mirror", "true")):  # fmt: skip
        lane.git("config", key, value)

    done = lane.run(WRITES, "--merge", "pr")

    assert done.returncode == 0, done.stderr
    assert lane.git("for-each-ref", "--format=%(refname)", cwd=there) == f"refs/heads/{BRANCH}"
    assert (tmp_path / "options").read_text(encoding="utf-8").split() == ["GIT_PUSH_OPTION_COUNT=0"]


def test_no_setting_of_the_repository_is_seen_by_the_git_that_pushes(
    lane: Lane, tmp_path: Path
) -> None:
    """Whichever setting the next version of git brings."""
    there = remote(lane, tmp_path / "good.git")
    real, said = shutil.which("git"), tmp_path / "said"
    spy = tmp_path / "bin" / "git"
    spy.write_text(
        f'#!/bin/sh\ncase "$1" in push) {real} config --list --show-scope > "{said}";; esac\n'
        f'exec {real} "$@"\n', encoding="utf-8"
    )  # fmt: skip
    spy.chmod(0o755)
    listed = lane.git("help", "--config").splitlines()
    plain = [each for each in listed if each.startswith(("http.", "push.", "ssh.", "send"))
             and "<" not in each and "*" not in each and each != "push.default"]  # fmt: skip
    for key in (*plain, "brand.new", "include.path", "lfs.url", "remote.origin.new"):
        lane.git("config", key, "true")
    trusted = lane.repo / ".git" / "config.more"
    trusted.write_text("[another]\n\tfile = true\n", encoding="utf-8")
    lane.git("config", "--replace-all", "include.path", "config.more")

    done = lane.run(WRITES, "--merge", "pr")

    assert done.returncode == 0, done.stderr
    assert lane.git("rev-parse", BRANCH, cwd=there) == lane.git("rev-parse", BRANCH)
    seen = [line.split("\t")[1].partition("=")[0] for line in said.read_text("utf-8").splitlines()
            if line.startswith(("local", "worktree"))]  # fmt: skip
    assert {each.partition(".")[0] for each in seen} == {"core", "extensions"}
    assert not {"http.proxy", "another.file", "brand.new"} & set(seen)


# The user's own settings hold, wherever they keep them.


@pytest.mark.sweep(5)
@pytest.mark.parametrize(
    "where",
    [
        "[include]\n\tpath = {mine}\n",
        '[includeIf "gitdir:{repo}/"]\n\tpath = {mine}\n',
        '[includeIf "gitdir:{repo}/.git"]\n\tpath = {mine}\n',
        '[includeIf "onbranch:main"]\n\tpath = {mine}\n',
        '[includeIf "gitdir:{top}/"]\n\tpath = {between}\n',
    ],
)
def test_keys_in_a_file_that_the_users_settings_include_are_used(
    lane: Lane, tmp_path: Path, servers: tuple[Server, Server], where: str
) -> None:
    mine, between = tmp_path / "mine", tmp_path / "between"
    own(tmp_path, keys(tmp_path, servers[0]), "mine")
    own(tmp_path, f"[include]\n\tpath = {mine}\n[http]\n\textraHeader = X-Extra: mine\n", "between")
    said = where.format(mine=mine, between=between, repo=lane.repo, top=tmp_path)
    own(tmp_path, said)
    lane.git("remote", "add", "origin", f"{servers[0].url}/x.git")

    lane.run(WRITES, "--merge", "pr")

    assert set(servers[0].keys) == {KEY}
    assert all((extra == "mine") == ("between" in where) for *_, extra in servers[0].seen)


def test_users_own_program_that_asks_for_keys_is_asked(
    lane: Lane, tmp_path: Path, servers: tuple[Server, Server]
) -> None:
    asks = tmp_path / "asks"
    asks.write_text("#!/bin/sh\ncase $1 in User*) echo me;; *) echo TOPSECRET;; esac\n", "utf-8")
    asks.chmod(0o755)
    own(tmp_path, f"[core]\n\taskPass = {asks}\n")
    lane.git("remote", "add", "origin", f"{servers[0].url}/x.git")

    lane.run(WRITES, "--merge", "pr")

    assert set(servers[0].keys) == {KEY}


# The push goes to the address that was trusted, whatever it is called by then.


def test_address_that_was_looked_at_is_not_put_in_another_place_again(
    lane: Lane, tmp_path: Path
) -> None:
    """The user's own words lead from one to another, and from that to a third."""
    good, other = tmp_path / "good.git", tmp_path / "other.git"
    for each in (good, other):
        lane.git("init", "-q", "--bare", str(each))
    own(tmp_path, f'[url "{good}"]\n\tinsteadOf = team:\n[url "{other}"]\n\tinsteadOf = {good}\n'
        f"\tpushInsteadOf = {good}\n")  # fmt: skip
    lane.git("remote", "add", "origin", "team:")
    trust(lane, good)

    done = lane.run(WRITES, "--merge", "pr")

    assert done.returncode == 0, done.stderr
    assert lane.git("rev-parse", BRANCH, cwd=good) == lane.git("rev-parse", BRANCH)
    assert lane.git("for-each-ref", cwd=other) == ""


def test_remote_that_is_renamed_in_the_moment_of_the_push_is_not_pushed_to(
    lane: Lane, tmp_path: Path
) -> None:
    there = remote(lane, tmp_path / "good.git")
    evil = tmp_path / "evil.git"
    lane.git("init", "-q", "--bare", str(evil))
    real = shutil.which("git")
    spy = tmp_path / "bin" / "git"
    change = f'env -u GIT_DIR {real} -C "{lane.repo}" config remote.origin.pushurl "{evil}"'
    spy.write_text(
        f'#!/bin/sh\ncase "$1" in push) {change};; esac\nexec {real} "$@"\n', encoding="utf-8"
    )
    spy.chmod(0o755)

    lane.run(WRITES, "--merge", "pr")

    assert lane.git("config", "remote.origin.pushurl") == str(evil)
    assert lane.git("for-each-ref", cwd=evil) == ""
    assert lane.git("for-each-ref", "--format=%(refname)", cwd=there) == f"refs/heads/{BRANCH}"


# Repositories that hold less than everything.


@pytest.mark.sweep(4)
@pytest.mark.parametrize("how", ["--depth=1", "--filter=blob:none", "--shared", "--no-local"])
def test_branch_of_a_clone_of_any_kind_is_pushed(lane: Lane, tmp_path: Path, how: str) -> None:
    lane.git("commit", "-q", "--allow-empty", "-m", "second")
    origin, clone = tmp_path / "origin.git", tmp_path / "clone"
    lane.git("clone", "-q", "--bare", str(lane.repo), str(origin))
    lane.git("config", "uploadpack.allowFilter", "true", cwd=origin)
    lane.git("clone", "-q", how, f"file://{origin}", str(clone))
    there = Lane(repo=clone, home=lane.home)
    trust(there, origin)

    done = there.run(WRITES, "--merge", "pr")

    assert done.returncode == 0, done.stderr
    assert lane.git("rev-parse", BRANCH, cwd=origin) == there.git("rev-parse", BRANCH)


def test_branch_of_a_repository_with_long_names_is_pushed(lane: Lane, tmp_path: Path) -> None:
    repo, there = tmp_path / "long", tmp_path / "there.git"
    for words in (("-b", "main", str(repo)), ("--bare", str(there))):
        lane.git("init", "-q", "--object-format=sha256", *words)
    lane.git("commit", "-q", "--allow-empty", "-m", "first", cwd=repo)
    lane.git("remote", "add", "origin", str(there), cwd=repo)
    made = Lane(repo=repo, home=lane.home)
    trust(made, there)

    done = made.run(WRITES, "--merge", "pr")

    assert done.returncode == 0, done.stderr
    assert lane.git("rev-parse", BRANCH, cwd=there) == made.git("rev-parse", BRANCH)


def test_nothing_of_a_push_stays_in_the_temporary_folder(lane: Lane, tmp_path: Path) -> None:
    remote(lane, tmp_path / "good.git")
    lane.run(WRITES, "--merge", "pr")

    left = [each.name for each in Path(os.environ["TMPDIR"]).iterdir()]
    assert [name for name in left if "scratch" in name] == []
    assert lane.git("fsck") == ""

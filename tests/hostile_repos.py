"""Repositories that try to run a program: each one way, as data, with what sets it off.

Every trap runs the same program, which leaves a canary file. `sets_off` are plain git commands
that prove the trap to be live; where plain git does not fall for it, `harmless` says why.
"""

import os
import pty
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import prepared

LINE = "a line\n"
PROOF_TIMEOUT_S = 60
WITHOUT = ("GIT_EDITOR", "GIT_TERMINAL_PROMPT")  # pinned for tests; they would spare plain git
HOOKS_OF_A_COMMIT = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
ASK = b"protocol=https\nhost=git.example.invalid\n\n"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A repository, the program that must never run, and the file it leaves when it does."""

    repo: Path
    program: Path
    canary: Path

    def git(self, *args: str, cwd: Path | None = None, stdin: bytes = b"") -> bytes:
        done = subprocess.run(
            ["git", *args], cwd=cwd or self.repo, input=stdin, capture_output=True, check=True
        )
        return done.stdout

    def config(self, *pairs: str) -> None:
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            self.git("config", "--add", key, value)

    def write(self, name: str, text: str) -> Path:
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def hook(self, name: str, folder: str = ".git/hooks") -> None:
        self.write(f"{folder}/{name}", f"#!/bin/sh\nexec {self.program}\n").chmod(0o755)


@dataclass(frozen=True, kw_only=True)
class Trap:
    """One way to have a program run."""

    name: str
    plant: Callable[[Scene], None]
    sets_off: Sequence[Sequence[str]]
    harmless: str = ""
    folder: str = "."
    refused: bool = False
    in_terminal: bool = False
    stdin: bytes = field(default=b"", repr=False)


def build_scene(folder: Path, make: Callable[[Path], None] | None = None) -> Scene:
    """Have a repository, of `branch_out` unless told, and the program beside it."""
    program = folder / "program"
    canary = folder / "canary"
    program.write_text(f'#!/bin/sh\n: > {canary}\ncat -- "$@" 2>/dev/null\nexit 0\n', "utf-8")
    program.chmod(0o755)
    prepared.repository(make or branch_out, folder / "repo")
    return Scene(repo=folder / "repo", program=program, canary=canary)


def branch_out(repo: Path) -> None:
    """Make a repository with a conflict between `main` and `other`, and `easy` to merge."""
    scene = Scene(repo=repo, program=repo, canary=repo)
    scene.git("init", "-q", "-b", "main")
    for name in ("data.txt", "both.txt"):
        scene.write(name, LINE)
    _commit_all(scene, "first")
    for branch, name in (("other", "both.txt"), ("easy", "new.txt")):
        scene.git("checkout", "-q", "-b", branch, "main")
        scene.write(name, f"{branch}\n")
        scene.write("data.txt", f"{LINE}{branch}\n")
        _commit_all(scene, branch)
    scene.git("checkout", "-q", "main")
    scene.write("both.txt", "main\n")
    _commit_all(scene, "second")
    scene.git("tag", "start")


def set_off(scene: Scene, trap: Trap) -> None:
    """Do with plain git what the trap waits for; whether git then fails does not matter."""
    env = {name: value for name, value in os.environ.items() if name not in WITHOUT}
    for command in trap.sets_off:
        if trap.in_terminal:
            _run_in_terminal(["git", *command], scene.repo / trap.folder, env)
        else:
            subprocess.run(
                ["git", *command],
                cwd=scene.repo / trap.folder,
                input=trap.stdin,
                env=env,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=PROOF_TIMEOUT_S,
                check=False,
            )


def _run_in_terminal(argv: Sequence[str], cwd: Path, env: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            argv, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, check=False, env=env
        )
    finally:
        os.close(ours)
        os.close(theirs)


def _commit_all(scene: Scene, message: str) -> None:
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", message)


# Ways to plant.


def settings(*pairs: str) -> Callable[[Scene], None]:
    """Set keys; `@` in a value stands for the program."""

    def plant(scene: Scene) -> None:
        scene.config(*(part.replace("@", str(scene.program)) for part in pairs))

    return plant


def driver(attribute: str, *pairs: str, file: str = ".gitattributes") -> Callable[[Scene], None]:
    """Set keys, and give every text file the attribute that leads to them; one is changed."""

    def plant(scene: Scene) -> None:
        settings(*pairs)(scene)
        scene.write(file, f"*.txt {attribute}\n")
        scene.write("data.txt", f"{LINE}changed\n")

    return plant


def hook(name: str) -> Callable[[Scene], None]:
    """Put the program where git looks for a hook."""

    def plant(scene: Scene) -> None:
        scene.hook(name)
        scene.write("data.txt", f"{LINE}changed\n")

    return plant


def included(key: str, file: str, *pairs: str) -> Callable[[Scene], None]:
    """Point an include at a second file of settings, and use its filter."""

    def plant(scene: Scene) -> None:
        driver("filter=hidden", file=".git/info/attributes")(scene)
        for name, value in zip(pairs[::2], pairs[1::2], strict=True):
            text = value.replace("@", str(scene.program))
            scene.git("config", "--file", str(scene.repo / ".git" / file), name, text)
        scene.config(key, file)

    return plant


def plant_chained_include(scene: Scene) -> None:
    included("includeIf.gitdir:**/worktrees/**.path", "one", "include.path", "two")(scene)
    smudge = f"{scene.program}"
    scene.git("config", "--file", str(scene.repo / ".git/two"), "filter.hidden.smudge", smudge)


def plant_own_hooks_folder(scene: Scene) -> None:
    scene.hook("post-checkout", "planted")
    scene.config("core.hooksPath", "planted")


def plant_auto_gc(scene: Scene) -> None:
    scene.git("repack", "-q")
    scene.write("more.txt", LINE * 2)
    _commit_all(scene, "more")
    scene.git("repack", "-q")
    scene.config("gc.autoPackLimit", "1", "gc.autoDetach", "false")
    scene.hook("pre-auto-gc")
    scene.write("data.txt", f"{LINE}changed\n")


def plant_signature(scene: Scene) -> None:
    """Make HEAD a commit with a signature that git will want to check."""
    settings("gpg.program", "@", "log.showSignature", "true")(scene)
    raw = scene.git("cat-file", "commit", "HEAD").decode()
    head, _, body = raw.partition("\n\n")
    kind = "PGP SIGNATURE"
    signature = f"gpgsig -----BEGIN {kind}-----\n \n abcd\n -----END {kind}-----"
    data = f"{head}\n{signature}\n\n{body}".encode()
    commit = scene.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=data).decode().strip()
    scene.git("reset", "-q", "--hard", commit)


def plant_worktree_settings(scene: Scene) -> None:
    scene.config("extensions.worktreeConfig", "true")
    scene.git("config", "--worktree", "core.fsmonitor", str(scene.program))


def plant_bare_inside(scene: Scene) -> None:
    bare = scene.repo / "inner"
    scene.git("init", "-q", "--bare", str(bare))
    scene.git("config", "core.bare", "false", cwd=bare)
    scene.git("config", "core.worktree", "..", cwd=bare)
    scene.git("config", "core.fsmonitor", str(scene.program), cwd=bare)


def plant_submodule(scene: Scene) -> None:
    """Add a repository inside, with a filter of its own, that asks to be looked into."""
    inner = scene.repo / "inner"
    inner.mkdir()
    scene.git("init", "-q", "-b", "main", cwd=inner)
    for text in ("one\n", "two\n"):
        scene.write("inner/data.txt", text)
        scene.git("add", ".", cwd=inner)
        scene.git("commit", "-q", "-m", "inner", cwd=inner)
    text = '[submodule "in ner"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n'
    scene.write(".gitmodules", text)
    scene.git("-c", "advice.addEmbeddedRepo=false", "add", "inner", ".gitmodules")
    scene.git("commit", "-q", "-m", "inner")
    scene.git("config", "filter.inside.clean", str(scene.program), cwd=inner)
    scene.write("inner/.git/info/attributes", "*.txt filter=inside\n")
    scene.write("inner/data.txt", "six\n")  # as long as before, so that git must read it


def plant_submodule_in_index_only(scene: Scene) -> None:
    plant_submodule(scene)
    (scene.repo / ".gitmodules").unlink()


def plant_submodule_update(scene: Scene) -> None:
    plant_submodule(scene)
    scene.git("checkout", "-q", "-f", "HEAD^", cwd=scene.repo / "inner")
    scene.config("submodule.in ner.url", "./inner", "submodule.in ner.active", "true")
    scene.config("submodule.in ner.update", f"!{scene.program}")


def partial_clone(url: str, *pairs: str) -> Callable[[Scene], None]:
    """Take a blob away and name a remote that is said to have it: git fetches when it reads."""

    def plant(scene: Scene) -> None:
        blob = scene.git("rev-parse", "HEAD~1:data.txt").decode().strip()
        settings("extensions.partialClone", "origin", "remote.origin.promisor", "true")(scene)
        settings("remote.origin.url", url, *pairs)(scene)
        scene.write("data.txt", "another\n")
        _commit_all(scene, "another")
        (scene.repo / ".git/objects" / blob[:2] / blob[2:]).unlink()

    return plant


REMOTES = {
    "uploadpack": ("/nowhere/at/all", "remote.origin.uploadpack", "@"),
    "ext": ("ext::@ /dev/null", "protocol.ext.allow", "always"),
    "ssh": ("ssh://git.example.invalid/x", "core.sshCommand", "@"),
    "git": ("git://git.example.invalid/x", "core.gitProxy", "@"),
    "vcs": ("x", "remote.origin.vcs", "evil", "alias.remote-evil", "!@"),
}
_NO_PROGRAM = ("/nowhere/at/all",)


def hollow(scene: Scene, remote: str) -> None:
    """Take every object away, and name a remote that is said to have them."""
    url, *pairs = REMOTES.get(remote, _NO_PROGRAM)
    settings("extensions.partialClone", "origin", "remote.origin.promisor", "true")(scene)
    settings("remote.origin.url", url, *pairs)(scene)
    for path in (scene.repo / ".git/objects").glob("??/*"):
        path.unlink()


def plant_alternate(scene: Scene) -> None:
    other = scene.repo.parent / "other"
    scene.git("clone", "-q", str(scene.repo), str(other))
    scene.write(".git/objects/info/alternates", f"{other}/.git/objects\n")
    settings("core.alternateRefsCommand", "@")(scene)


def plant_program_named_git(scene: Scene) -> None:
    scene.write("git", f"#!/bin/sh\nexec {scene.program}\n").chmod(0o755)


# Calls that look: those that no configuration can have a program started by, and others that are
# nearly the same.

ASKED = b"HEAD^{commit}\n:data.txt\nHEAD:both.txt\n"
_OBJECTS: tuple[tuple[str, ...], ...] = (
    ("cat-file", "blob", "HEAD:both.txt"),
    ("cat-file", "commit", "HEAD"),
    ("cat-file", "--batch-check"),
    ("diff-index", "--cached", "--name-only", "-z", "HEAD"),
    ("diff-tree", "-r", "-z", "--raw", "--no-renames", "HEAD~1", "HEAD"),
    ("for-each-ref", "--count=1", "--contains=HEAD"),
    ("ls-tree", "-r", "-z", "--full-tree", "HEAD"),
    ("ls-tree", "-z", "HEAD", "--", "data.txt"),
    ("merge-base", "--is-ancestor", "HEAD~1", "HEAD"),
    ("rev-list", "--objects", "--no-object-names", "HEAD", "^HEAD~1"),
    ("rev-list", "--parents", "--no-walk", "HEAD"),
    ("rev-list", "--reverse", "--max-count=200", "HEAD~1..HEAD"),
    ("rev-list", "--topo-order", "--parents", "HEAD"),
    ("rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{tree}"),
)
FETCHING_CALLS = _OBJECTS
INERT_CALLS: tuple[tuple[str, ...], ...] = (
    *_OBJECTS,
    ("branch", "--show-current"),
    ("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/main"),
    ("for-each-ref", "--format=%(refname)", "refs/standfast/"),
    ("ls-files", "-z"),
    ("ls-files", "-z", "-t"),
    ("ls-files", "-z", "--stage", "--full-name", "--", "data.txt"),
    ("ls-files", "--unmerged"),
    ("rev-list", "--first-parent", "--max-count=1", "--before=1700000000", "HEAD"),
    ("rev-list", "--objects", "--no-object-names", "--missing=allow-any", "HEAD"),
    ("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"),
    ("rev-parse", "--show-object-format"),
    ("rev-parse", "--show-toplevel"),
    ("symbolic-ref", "--quiet", "HEAD"),
    ("version",),
    ("worktree", "list", "--porcelain", "-z"),
)
LOOKING_CALLS: tuple[tuple[str, ...], ...] = (
    ("cat-file", "--filters", "HEAD:both.txt"),
    ("cat-file", "--textconv", "HEAD:both.txt"),
    ("cat-file", "--batch"),
    ("cat-file", "--batch-check=%(rest)"),
    ("check-attr", "filter", "data.txt"),
    ("check-ignore", "data.txt"),
    ("diff",),
    ("diff-files", "--name-only"),
    ("diff-index", "--name-only", "HEAD"),
    ("diff-index", "--name-only", "--cached", "HEAD"),
    ("diff-index", "--cached", "-p", "HEAD"),
    ("diff-tree", "-p", "HEAD~1", "HEAD"),
    ("for-each-ref", "--format=%(signature)"),
    ("for-each-ref", "--format=%(describe)"),
    ("log",),
    ("ls-files", "--modified"),
    ("ls-files", "-zm"),
    ("ls-files", "--others"),
    ("ls-files", "--recurse-submodules"),
    ("rev-list", "--format=%G?", "HEAD"),
    ("rev-list", "--cherry-mark", "HEAD...other"),
    ("rev-parse", "--show-superproject-working-tree"),
    ("show", "HEAD"),
    ("status",),
)


# The ways.

_CHANGED = (("status",), ("diff",), ("add", "data.txt"))
_SMUDGED = (("checkout", "-q", "-f", "easy"),)
_ONLY_NEWER = "hooks in the configuration came with a git newer than 2.39"


def _filters() -> list[Trap]:
    traps = []
    for name in ("evil", "a=b", "a.b.c", "UPPER", "Mixed.Case=x", "f\u00fcr"):
        for kind, sets_off in (("clean", _CHANGED), ("smudge", _SMUDGED), ("process", _SMUDGED)):
            key = f"filter.{name}"
            plant = driver(f"filter={name}", f"{key}.{kind}", "@", f"{key}.required", "true")
            traps.append(Trap(name=f"{kind} filter {name}", plant=plant, sets_off=sets_off))
    return traps


def _hooks() -> list[Trap]:
    commit = (("commit", "-q", "-a", "-m", "x"),)
    merge = (("merge", "-q", "--no-edit", "--autostash", "easy"),)
    return [
        *(
            Trap(name=f"{name} hook", plant=hook(name), sets_off=commit)
            for name in HOOKS_OF_A_COMMIT
        ),
        Trap(name="post-checkout hook", plant=hook("post-checkout"), sets_off=_SMUDGED),
        Trap(name="post-index-change hook", plant=hook("post-index-change"), sets_off=_CHANGED),
        Trap(
            name="reference-transaction hook",
            plant=hook("reference-transaction"),
            sets_off=(("tag", "x"),),
        ),
        Trap(name="pre-merge-commit hook", plant=hook("pre-merge-commit"), sets_off=merge),
        Trap(name="post-merge hook", plant=hook("post-merge"), sets_off=merge),
        Trap(
            name="post-rewrite hook",
            plant=hook("post-rewrite"),
            sets_off=(("commit", "-q", "-a", "--amend", "-m", "x"),),
        ),
        Trap(name="pre-auto-gc hook", plant=plant_auto_gc, sets_off=(("gc", "--auto"),)),
        Trap(name="core.hooksPath", plant=plant_own_hooks_folder, sets_off=_SMUDGED),
        Trap(
            name="hook in the configuration",
            plant=settings("hook.evil.command", "@", "hook.evil.event", "pre-commit"),
            sets_off=(("commit", "-q", "--allow-empty", "-m", "x"),),
            harmless=_ONLY_NEWER,
        ),
    ]


def _drivers() -> list[Trap]:
    clean = ("filter.evil.clean", "@")
    return [
        Trap(
            name="filter by info/attributes",
            plant=driver("filter=evil", *clean, file=".git/info/attributes"),
            sets_off=_CHANGED,
        ),
        Trap(
            name="filter by core.attributesFile",
            plant=driver(
                "filter=evil", *clean, "core.attributesFile", ".git/planted", file=".git/planted"
            ),
            sets_off=_CHANGED,
        ),
        Trap(
            name="textconv",
            plant=driver("diff=evil", "diff.evil.textconv", "@", "diff.evil.cachetextconv", "true"),
            sets_off=(("log", "-p"),),
        ),
        Trap(
            name="diff.<name>.command",
            plant=driver("diff=e=v", "diff.e=v.command", "@"),
            sets_off=(("diff",),),
        ),
        Trap(name="diff.external", plant=driver("text", "diff.external", "@"), sets_off=_CHANGED),
        Trap(
            name="merge driver",
            plant=driver("merge=evil", "merge.evil.driver", "@", file=".git/info/attributes"),
            sets_off=(("merge", "--no-edit", "--autostash", "other"),),
        ),
        Trap(
            name="merge.default driver",
            plant=settings("merge.evil.driver", "@", "merge.default", "evil"),
            sets_off=(("merge", "--no-edit", "other"),),
        ),
        Trap(
            name="trailer command",
            plant=settings("trailer.evil.command", "@"),
            sets_off=(("interpret-trailers",),),
        ),
    ]


def _programs() -> list[Trap]:
    sign = (("commit", "-q", "--allow-empty", "-m", "x"),)
    note = (("tag", "-a", "x"),)
    return [
        Trap(name="core.fsmonitor", plant=settings("core.fsmonitor", "@"), sets_off=(("status",),)),
        Trap(name="log.showSignature", plant=plant_signature, sets_off=(("log",),)),
        Trap(
            name="commit.gpgSign",
            plant=settings("commit.gpgSign", "true", "tag.gpgSign", "true", "gpg.program", "@"),
            sets_off=sign,
        ),
        Trap(
            name="gpg.ssh.program",
            plant=settings(
                "commit.gpgSign",
                "true",
                "gpg.format",
                "ssh",
                "gpg.ssh.program",
                "@",
                "user.signingKey",
                "@",
            ),
            sets_off=sign,
        ),
        Trap(
            name="gpg.ssh.defaultKeyCommand",
            plant=settings(
                "commit.gpgSign", "true", "gpg.format", "ssh", "gpg.ssh.defaultKeyCommand", "@"
            ),
            sets_off=sign,
        ),
        Trap(
            name="core.pager",
            plant=settings("core.pager", "@"),
            sets_off=(("log",),),
            in_terminal=True,
        ),
        Trap(
            name="pager.log",
            plant=settings("pager.log", "@"),
            sets_off=(("log",),),
            in_terminal=True,
        ),
        Trap(name="core.editor", plant=settings("core.editor", "@"), sets_off=note),
        Trap(
            name="sequence.editor",
            plant=settings("sequence.editor", "@"),
            sets_off=(("rebase", "-q", "-i", "HEAD^"),),
        ),
        Trap(
            name="core.askPass",
            plant=settings("core.askPass", "@"),
            sets_off=(("credential", "fill"),),
            stdin=ASK,
        ),
        Trap(
            name="credential.helper",
            plant=settings("credential.helper", "!@"),
            sets_off=(("credential", "fill"),),
            stdin=ASK,
        ),
        Trap(
            name="credential.<url>.helper",
            plant=settings("credential.https://git.example.invalid.helper", "!@"),
            sets_off=(("credential", "fill"),),
            stdin=ASK,
        ),
        Trap(name="alias", plant=settings("alias.st", "!@"), sets_off=(("st",),)),
        Trap(
            name="alias of a verb",
            plant=settings("alias.log", "!@", "alias.status", "!@"),
            sets_off=(("log",), ("status",)),
            harmless="git ignores an alias that hides one of its own verbs",
        ),
        Trap(
            name="tar.<format>.command",
            plant=settings("tar.evil.command", "@"),
            sets_off=(("archive", "--format=evil", "HEAD"),),
        ),
    ]


def _places() -> list[Trap]:
    smudge = ("filter.hidden.smudge", "@")
    new_worktree = (("worktree", "add", "--detach", "../planted", "HEAD"),)
    return [
        Trap(
            name="include.path",
            plant=included("include.path", "more", "core.fsmonitor", "@"),
            sets_off=(("status",),),
        ),
        Trap(
            name="filter behind include.path",
            plant=included("include.path", "more", "filter.hidden.clean", "@"),
            sets_off=_CHANGED,
        ),
        Trap(
            name="filter for new worktrees only",
            plant=included("includeIf.gitdir:**/worktrees/**.path", "more", *smudge),
            sets_off=new_worktree,
        ),
        Trap(
            name="filter behind two includes, the first conditional",
            plant=plant_chained_include,
            sets_off=new_worktree,
        ),
        Trap(
            name="filter for one branch only",
            plant=included("includeIf.onbranch:easy.path", "more", *smudge),
            sets_off=(
                ("checkout", "-q", "-f", "easy"),
                ("checkout", "-q", "HEAD~1", "--", "data.txt"),
            ),
        ),
        Trap(name="config.worktree", plant=plant_worktree_settings, sets_off=(("status",),)),
        Trap(
            name="bare repository inside",
            plant=plant_bare_inside,
            sets_off=(("status",),),
            folder="inner",
            refused=True,
        ),
        Trap(name="filter of a submodule", plant=plant_submodule, sets_off=(("status",),)),
        Trap(
            name="filter of a submodule, .gitmodules in the index only",
            plant=plant_submodule_in_index_only,
            sets_off=(("status",),),
        ),
        Trap(
            name="submodule.<name>.update",
            plant=plant_submodule_update,
            sets_off=(("submodule", "update"),),
        ),
    ]


def _remotes() -> list[Trap]:
    read = (("log", "-p"),)
    return [
        *(
            Trap(name=f"{name} remote while reading", plant=partial_clone(*told), sets_off=read)
            for name, told in REMOTES.items()
        ),
        Trap(
            name="core.alternateRefsCommand",
            plant=plant_alternate,
            sets_off=(("fetch", "../other", "main"),),
        ),
    ]


TRAPS: tuple[Trap, ...] = (
    *_programs(),
    *_hooks(),
    *_filters(),
    *_drivers(),
    *_places(),
    *_remotes(),
)

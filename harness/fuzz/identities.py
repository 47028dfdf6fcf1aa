"""Targets for where a journal is at home: its id file, and links of git in a moved repository."""

from __future__ import annotations

import os

from harness.fuzz.target import Target, answered, folder, must, text_of
from standfast import journal_id as rules
from standfast.git import moved_worktrees
from standfast.journal import id_file
from standfast.runs import leftovers

_NAME, _OTHER = b"a1" * 10, b"b2" * 10
_WHOLE = b"journal %b\nhome /new/.git\nwas /old/.git\nlost %b\ncopy 17 %b /old/.git\n" % (
    *(_NAME, _OTHER, _OTHER),
)


@answered
def _id_file(data: bytes) -> None:
    at = folder("identity")
    at.put("standfast-id", data)
    known = id_file.read(os.path.join(at.path, "standfast"))
    must(known is not None and (known.name or known.lost), "a file that is there says nothing")
    written = rules.write(rules.read(data))
    must(rules.write(rules.read(written)) == written, "it reads back as something else")
    found = id_file.look(os.path.join(at.path, "standfast"))
    must(found.name or found.lost, "a journal that was here is not known")
    path = rules.here("/old/.worktrees/a", found.was, at.path)
    must(os.path.isabs(path), "a path leads nowhere")


@answered
def _links(data: bytes) -> None:
    at = folder("moved")
    at.put(".git/worktrees/a/gitdir", b"/old/.worktrees/a/.git\n")
    at.put(".worktrees/a/.git", data)
    at.put(".git/worktrees/b/gitdir", data)
    moved_worktrees.mend(os.path.join(at.path, ".git"), ["/old/.git", "/"], is_copy=False)
    leftovers.unknown([], data, [text_of(data)])


TARGETS = (
    Target("id-file", "a file that is there tells of a journal", _id_file,
           (_WHOLE, b"lost %b\n" % _OTHER, b"", b"journal \xff\nhome %25%0A\n"), inputs=500),
    Target("moved-links", "links that are nothing of ours are left alone", _links,
           (b"gitdir: /old/.git/worktrees/a\n", b"/old/.worktrees/b/.git\n", b""), inputs=200),
)  # fmt: skip

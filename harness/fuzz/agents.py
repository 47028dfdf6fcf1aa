"""Targets for what agents write: outputs, prompts, the state files of a workflow."""

from __future__ import annotations

import os

from harness.fuzz.target import Target, answered, folder, must, text_of
from standfast.formats.yaml_text import read_yaml
from standfast.journal import overwritten_files
from standfast.journal.author import STANDFAST
from standfast.journal.store import Journal
from standfast.protocols.outputs.files import live_session as found
from standfast.protocols.outputs.files.output_places import Grounds
from standfast.protocols.outputs.records import launch_records as recorded
from standfast.protocols.outputs.rules import live_state, stages, whole_output
from standfast.protocols.outputs.rules.prompts import declared_outputs
from standfast.redaction.redactor import redact

_END = whole_output.SENTINEL.encode()


def _output(data: bytes) -> None:
    fault = whole_output.fault(data)
    must(fault is None or fault in whole_output.REASONS, "a reason that there is not")
    if fault is None:
        must(data.rstrip(b" \t\r\n").endswith(_END), "valid without its end")
        must(
            whole_output.fault(data + b"x") == whole_output.NO_SENTINEL,
            "valid with words behind its end",
        )
    must(whole_output.fault(data + b"\nx\n" + _END) is None, "words and an end are not enough")


def _prompt(data: bytes) -> None:
    text = text_of(data)
    root = os.path.realpath(folder("places").path)
    for said in (text, f"{text}\n{whole_output.SENTINEL}"):
        named = declared_outputs.declared(said)
        must(all(path.endswith(".md") for path in named), "no file of ours")
        must(not any("\n" in path or "\0" in path for path in named), "no path at all")
        for place in Grounds(root, root, root, {"HOME": root}).find(named):
            must(os.path.isabs(place.path), "a path from nowhere")
            must(not place.is_ours or place.path.startswith(root + os.sep), "held for others")
    made = whole_output.prompt(text, "/s/x.md")
    first = f"{whole_output.paragraph('/s/x.md')}\n{text}"  # before it may stand that it is quoted
    must("/s/x.md" in declared_outputs.declared(first), "a prompt without its paragraph")
    must(whole_output.prompt(made, "/s/x.md") == made, "the paragraph twice")


@answered
def _state(data: bytes) -> None:
    said = live_state.read(data, "state.yaml")
    must(all(value is None or value for value in said), "an empty name")
    live_state.read_setting(data, "config.yaml")
    at = folder("live")
    at.put(live_state.ROOT_FILE, data)
    root = os.path.realpath(at.path)
    path = found.resolve(root, {}).path
    must(path.startswith(root + os.sep), "a state file outside")
    must(found.session_dir(root, {}).startswith(root + os.sep), "a directory outside")


@answered
def _begun(data: bytes) -> None:
    """A state with a new session in it says the same of everything else."""
    text = live_state.begun(data, "state.yaml", "s", "p/d")
    again = live_state.read(text, "state.yaml")
    must((again.session_id, again.dir) == ("s", "p/d"), "another session")
    before, after = (read_yaml(each, name="state.yaml").value for each in (data, text))
    rest = [dict(each, live=None) if isinstance(each, dict) else {"live": None}
            for each in (before, after)]  # fmt: skip
    must(rest[0] == rest[1], "another key was changed")


@answered
def _stages(data: bytes) -> None:
    value = read_yaml(data, name="stages.yaml").value
    try:
        declared = stages.check(value)
    except ValueError:
        return
    for stage in stages.known(declared).values():
        for role in stage.tiers:
            must("/" not in stage.output(role), "an output that is a path")


def _kept(data: bytes) -> None:
    journal = Journal(os.path.join(folder("keep").path, "journal"))
    with journal.writing() as tx:
        digest = overwritten_files.keep(tx, "/s/x.md", data, "fuzz", STANDFAST)
        recorded.launch(tx, "/s/x.md", "plan", "", STANDFAST)
    kept = overwritten_files.kept(journal, digest)
    same = redact(text_of(data)).encode("utf-8", "surrogateescape")
    must(kept == same, "what was kept is something else")
    must(recorded.known(journal, "/s/x.md").launches > 0, "a launch that was not counted")
    journal.let_go()


TARGETS = (
    Target(
        "output",
        "valid exactly when it says something and ends in the sentinel",
        _output,
        (
            b"words\n" + _END + b"\n",
            b"a\r\n" + _END + b"\r\n\r\n",
            _END,
            b"\xef\xbb\xbf" + _END,
            b"",
        ),
    ),
    Target(
        "prompt",
        "paths of files, held for below the root alone, and the paragraph once",
        _prompt,
        (
            whole_output.prompt("Look.", "/s/a b.md").encode(),
            b"Write it to /s/x.md and end in " + _END,
            b"write /a.md\r\nWRITE: /b.md " + _END,
            b"Session dir: ./s\n## Output file\n```\n`x.md`\n```\nInputs:\n- a.md: read\n" + _END,
            b'1. Do not write to "~/a b.md", write your findings\nto y.md in the root. ' + _END,
            b"Session dir: ./s\nOutput file: x.md\nEnd your file with this line: " + _END,
            b"<output>x.md</output> Output: [x](y.md) and z.md, w.md in docs/ " + _END,
        ),
    ),
    Target(
        "live-state-begun",
        "the new session, and every other key as it was, or our error",
        _begun,
        (
            b"# x\nlive:\n  session_id: old  # y\n  phase: z\ntools: [rg]\n",
            b"live: {}\n",
            b"a: &a 1\nlive: null\nb: *a\n",
            b"",
        ),
    ),
    Target(
        "live-state",
        "a file and a directory in the repository, or our error",
        _state,
        (
            b"live:\n  session_id: s1\n  dir: .cwf/projects/one\n",
            b"live: {state_file: \"a #b.yaml\", dir: 'x'}\n",
            b"CWF_STATE_FILE: state.yaml\nlive: {dir: 5}\n",
            b"live:\n  dir: a # b\n",
        ),
    ),
    Target(
        "stages",
        "names of files, or a refusal",
        _stages,
        (
            b"audit: {outputs: {a: soft, b: critical}, expects: launched}\n",
            b"retro: {suffix: -x}\n",
        ),
    ),
    Target(
        "kept",
        "what is kept comes back as it was, without its secrets",
        _kept,
        (b"half of it", b"\xff\xfe\x00", "caf\u00e9\n".encode() * 9_000),
        inputs=200,
    ),
)

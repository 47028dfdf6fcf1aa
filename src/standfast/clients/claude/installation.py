"""Getting into Claude Code and out again: look, decide, act; doing it twice changes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast.clients.claude import (
    abilities,
    client_version,
    role_hook,
    settings_file,
    settings_text,
)
from standfast.clients.hooks import launcher
from standfast.errors.base import NotARepository, StandfastError, Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.clients.claude.abilities import Version
    from standfast.clients.claude.settings_file import Change, SettingsFile
    from standfast.clients.claude.settings_text import Others, Ours
    from standfast.journal.place import Place


class Plan(NamedTuple):
    """What would be written, and what was seen."""

    file: SettingsFile
    version: Version | None
    before: str | None
    after: str | None
    had: tuple[Ours, ...]
    hooks: tuple[Ours, ...]  # ours, afterwards
    others: Others

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after


def choose_file(environ: Mapping[str, str], project: Place | None) -> SettingsFile:
    """The user's own settings, or those of one person in one checkout."""
    if project is None:
        return settings_file.of_user(environ)
    if not os.path.lexists(os.path.join(project.root, ".git")):
        raise NotARepository("--project needs a checkout of a repository", file=project.root)
    return settings_file.of_project(project.root)


def plan_install(environ: Mapping[str, str], file: SettingsFile) -> Plan:
    """Look at the client and at the settings, and decide; nothing is written."""
    found = client_version.installed(environ)
    before = settings_file.text_of(settings_file.read(file), file)
    return _plan(file, found, before, _with_ours(environ, found, file, before))


def plan_uninstall(file: SettingsFile) -> Plan:
    """Decide how the settings are without ours; nothing is written."""
    before = settings_file.text_of(settings_file.read(file), file)
    return _plan(file, None, before, settings_text.without_hooks(before, name=file.shown))


def _plan(file: SettingsFile, found: Version | None, before: str | None, after: str | None) -> Plan:
    if before != after:
        settings_file.refuse_unwritable(file)
    return Plan(
        file=file,
        version=found,
        before=before,
        after=after,
        had=tuple(settings_text.find(before, name=file.shown)),
        hooks=tuple(settings_text.find(after, name=file.shown)),
        others=settings_text.others(before, name=file.shown),
    )


def write_install(environ: Mapping[str, str], plan: Plan) -> Change:
    """Put ours into the settings as they are now."""
    sweep(plan.file)
    return settings_file.change(
        plan.file,
        lambda text: _with_ours(environ, plan.version, plan.file, text),
    )


def write_uninstall(plan: Plan) -> Change:
    """Take ours out of the settings as they are now."""
    sweep(plan.file)
    return settings_file.change(
        plan.file,
        lambda text: settings_text.without_hooks(text, name=plan.file.shown),
    )


def sweep(file: SettingsFile) -> None:
    """Take away drafts that a crash left, also where nothing is left to write."""
    settings_file.sweep(file, lambda text: settings_text.without_hooks(text, name=file.shown))


def take_back(plan: Plan, change: Change) -> bool:
    """Put the settings back as they were; False if somebody wrote them since."""
    return change.before == change.after or settings_file.put(
        plan.file, change.after, change.before
    )


def hooks_in(file: SettingsFile) -> tuple[Ours, ...]:
    """Ours, as the file has them now."""
    text = settings_file.text_of(settings_file.read(file), file)
    return tuple(settings_text.find(text, name=file.shown))


def launcher_is_used(environ: Mapping[str, str], project: Place | None) -> bool:
    """Whether settings that we can see still call the launcher; in doubt they do."""
    files = [settings_file.of_user(environ)]
    if project is not None:
        files.append(settings_file.of_project(project.root))
    try:
        in_role = project is not None and role_hook.is_there(project.root)
        return in_role or any(hooks_in(file) for file in files)
    except (StandfastError, OSError):
        return True


def _with_ours(
    environ: Mapping[str, str], found: Version | None, file: SettingsFile, text: str | None
) -> str:
    called = launcher.path(environ)
    try:
        called.encode()
    except UnicodeEncodeError:
        remedy = "Name one in UTF-8 by XDG_DATA_HOME, for every session of the client too."
        raise Unsupported("settings can name only a launcher whose path is UTF-8", file=called,
                          remedy=remedy) from None  # fmt: skip
    return settings_text.with_hooks(text, called, abilities.of(found), name=file.shown)

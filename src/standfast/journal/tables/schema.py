"""The journal's tables, as a list of migrations: a journal's version is how many it has had.

`events` is append-only. Everything else is current state, folded from events in the same
transaction (`folds`, `session_folds`), except `faces`, `published`, `displaced` and `merged`,
which remember what this machine has written to files and taken from strays, and `base` and
`heads`, which are what dropped events have left behind (`dropped_events`, `event_drop`).
"""

from __future__ import annotations

APPLICATION_ID = 0x5354464A  # "STFJ": `file` and we can tell a journal from another database

# SQLite uses the partial index `events_told` only where the words of its condition are repeated.
TOLD = (
    "(kind = 'prompt' OR kind = 'turn.ended' OR kind = 'line.given'"
    " OR kind = 'hooks.off' OR kind = 'gap')"
)

# Whether any file has a resumption section that we keep: asked before anything of it is loaded.
ANY_DOCUMENT = "SELECT 1 FROM cells WHERE key >= 'resumption:' AND key < 'resumption;' LIMIT 1"
ANY_LANE = "SELECT 1 FROM cells WHERE key >= 'lane:' AND key < 'lane;' LIMIT 1"
ANY_RUN = "SELECT 1 FROM cells WHERE key >= 'run:' AND key < 'run;' LIMIT 1"

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE events (
             seq     INTEGER PRIMARY KEY,
             at      INTEGER NOT NULL,
             stream  TEXT NOT NULL,
             run     TEXT,
             session TEXT,
             actor   TEXT NOT NULL,
             subdir  TEXT NOT NULL,
             kind    TEXT NOT NULL,
             origin  TEXT,
             payload TEXT NOT NULL CHECK (json_valid(payload)),
             hash    BLOB NOT NULL
           ) STRICT""",
        "CREATE INDEX events_by_stream ON events (stream)",
        """CREATE TABLE counters (
             prefix TEXT PRIMARY KEY,
             last   INTEGER NOT NULL
           ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE decisions (
             id      TEXT PRIMARY KEY,
             number  INTEGER NOT NULL,
             text    TEXT NOT NULL,
             actor   TEXT NOT NULL,
             subdir  TEXT NOT NULL,
             run     TEXT,
             session TEXT,
             origin  TEXT,
             at      INTEGER NOT NULL,
             seq     INTEGER NOT NULL
           ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE wordings (
             text TEXT PRIMARY KEY,
             id   TEXT NOT NULL
           ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE cells (
             key   TEXT PRIMARY KEY,
             value TEXT NOT NULL,
             at    INTEGER NOT NULL,
             seq   INTEGER NOT NULL
           ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE leases (
             name   TEXT PRIMARY KEY,
             holder TEXT NOT NULL,
             token  INTEGER NOT NULL,
             seq    INTEGER NOT NULL
           ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE faces (
             face      TEXT PRIMARY KEY,
             digest    TEXT,
             bytes     BLOB,
             unsettled TEXT,
             refused   TEXT,
             draft     TEXT,
             drafted   TEXT
           ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE displaced (
             number INTEGER PRIMARY KEY,
             face   TEXT NOT NULL,
             at     TEXT NOT NULL,
             base   BLOB,
             seen   TEXT,
             looked TEXT
           ) STRICT""",
        """CREATE TABLE published (
             face   TEXT NOT NULL,
             digest TEXT NOT NULL,
             PRIMARY KEY (face, digest)
           ) STRICT, WITHOUT ROWID""",
        "CREATE TABLE merged (stray TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
    ),
    (  # 2: the sessions of coding agents
        """CREATE TABLE sessions (
             session     TEXT PRIMARY KEY,
             client      TEXT NOT NULL,
             parent      TEXT,
             subdir      TEXT NOT NULL,
             transcript  TEXT,
             process     TEXT,
             branch      TEXT,
             began       INTEGER NOT NULL,
             woke        INTEGER NOT NULL,
             tokens      INTEGER,
             window      INTEGER,
             compactions INTEGER NOT NULL,
             ended       TEXT,
             at          INTEGER NOT NULL,
             forgotten   INTEGER NOT NULL
           ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE work (
             session TEXT NOT NULL,
             what    TEXT NOT NULL,
             key     TEXT NOT NULL,
             agent   TEXT NOT NULL,
             state   TEXT NOT NULL,
             words   TEXT NOT NULL,
             begun   INTEGER NOT NULL,
             ended   INTEGER NOT NULL,
             at      INTEGER NOT NULL,
             PRIMARY KEY (session, what, key)
           ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX work_by_state ON work (state, what, session, agent, ended)",
        """CREATE TABLE briefs (
             owed       INTEGER PRIMARY KEY,
             session    TEXT NOT NULL,
             agent      TEXT NOT NULL,
             why        TEXT NOT NULL,
             nonce      TEXT,
             characters INTEGER NOT NULL,
             given      INTEGER NOT NULL,
             seen       INTEGER NOT NULL
           ) STRICT""",
        "CREATE INDEX briefs_unseen ON briefs (session, agent) WHERE seen = 0",
        """CREATE INDEX events_told ON events (kind, session, seq)
             WHERE (kind = 'prompt' OR kind = 'turn.ended' OR kind = 'line.given'
               OR kind = 'hooks.off' OR kind = 'gap')""",
    ),
    (  # 3: old events are dropped, and what they have left behind stays
        """CREATE TABLE base (
             through  INTEGER PRIMARY KEY,
             document TEXT NOT NULL
           ) STRICT""",
        """CREATE TABLE heads (
             stream TEXT PRIMARY KEY,
             hash   BLOB NOT NULL
           ) STRICT, WITHOUT ROWID""",
        # A writer that remembers its last number from before a drop finds it free again.
        """CREATE TRIGGER dropped_numbers_stay_taken BEFORE INSERT ON events
             WHEN new.seq <= (SELECT through FROM base)
             BEGIN SELECT RAISE(ABORT, 'this number was dropped'); END""",
    ),
)

VERSION = len(MIGRATIONS)

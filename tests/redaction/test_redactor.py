"""No planted secret is left in any context, what is no secret stays byte for byte, in linear time.

The prefilter is the gate: whatever `redact` or `redact_value` would change, it must hit on,
also when it is shown the JSON of the value.
"""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import standfast
from secret_samples import CONTEXTS, WORD_CONTEXTS, Planted, planted
from standfast.redaction.redactor import might_hold_secret, redact, redact_value

SAMPLES = planted(20)
HALF = 500_000  # a megabyte takes twice as long, and shows nothing more


def contexts_of(sample: Planted) -> dict[str, str]:
    is_word = sample.text.endswith(sample.secret) and not set(" /'") & set(sample.text)
    contexts = CONTEXTS | WORD_CONTEXTS if is_word else CONTEXTS
    return {name: embed(sample.text) for name, embed in contexts.items()}


@pytest.mark.req("SEC-04")
def test_samples_are_at_least_200_of_at_least_40_kinds() -> None:
    assert len(SAMPLES) >= 200
    assert len({sample.kind for sample in SAMPLES}) >= 40


@pytest.mark.req("SEC-04")
def test_redact_leaves_no_planted_secret_in_any_context() -> None:
    left = [
        (sample.kind, where, redact(text))
        for sample in SAMPLES
        for where, text in contexts_of(sample).items()
        if sample.secret in redact(text) or json.dumps(sample.secret)[1:-1] in redact(text)
    ]

    assert left == []


@pytest.mark.req("SEC-04")
def test_prefilter_hits_every_planted_secret_plain_and_as_json() -> None:
    missed = [
        (sample.kind, where)
        for sample in SAMPLES
        for where, text in contexts_of(sample).items()
        if not (might_hold_secret(text) and might_hold_secret(json.dumps({"text": text})))
    ]

    assert missed == []


@pytest.mark.req("SEC-04")
def test_redact_changes_nothing_the_second_time() -> None:
    for sample in SAMPLES:
        for text in contexts_of(sample).values():
            once = redact(text)

            assert redact(once) == once


@pytest.mark.req("SEC-04")
def test_redact_finds_a_secret_that_another_one_was_glued_to() -> None:
    key = next(sample.text for sample in SAMPLES if sample.kind == "aws-id")
    token = next(sample.text for sample in SAMPLES if sample.kind == "github-user")

    assert redact(key + token) == "[redacted:aws-key][redacted:github-token]"


CRUMBS = (
    *('"', "'", "\\", "\n", ": ", "=", " ", "://", "@", "[redacted:token]", "]", ",", "&", "<"),
    *("password", "token", "api key", "DB_PASS", "--secret", "Cookie: ", "Authorization", "-u"),
    *("sk-", "task-", "SK", "auth", "eyJ", "-----BEGIN PRIVATE KEY-----", "$X", "é", "\x1b[31m"),
)
fragments = st.one_of(
    st.integers(0, len(SAMPLES) - 1).map(lambda place: SAMPLES[place].text),
    st.sampled_from(CRUMBS),
    st.text(max_size=12),
)
texts = st.lists(fragments, max_size=8).map("".join)
keys = st.one_of(texts, st.sampled_from(["password", "api Key", "pass", "auth", "name", "value"]))
values = st.recursive(
    st.one_of(texts, st.integers(), st.none(), st.booleans()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.req("SEC-04")
@given(text=texts)
def test_redact_is_idempotent_on_random_embeddings(text: str) -> None:
    once = redact(text)

    assert redact(once) == once


@pytest.mark.req("SEC-04")
@given(value=values)
def test_prefilter_hits_the_json_of_everything_that_redaction_changes(value: object) -> None:
    cleaned = redact_value(value)

    if cleaned != value:
        assert might_hold_secret(json.dumps(value))
        assert might_hold_secret(json.dumps(value, ensure_ascii=False))


@pytest.mark.req("SEC-04")
def test_commit_hashes_are_changed_at_most_once_in_ten_thousand() -> None:
    dice = random.Random(4)
    forms = (
        "commit {}",
        "HEAD is now at {} mend the token parser",
        "{} refs/heads/main",
        "index {}..{} 100644",
        "sha256:{}",
        '{{"head": "{}", "tokens": 5123, "password_reset": true}}',
        "git show {} -- src/secret.py",
        "https://example.org/owner/repo/commit/{}",
        "Merge {} into release (secret scanning on)",
    )
    hashes = ["".join(dice.choices("0123456789abcdef", k=k)) for k in (40, 64, 7, 12) * 3000]
    texts = [forms[i % len(forms)].replace("{}", name) for i, name in enumerate(hashes)]

    changed = [text for text in texts if redact(text) != text]

    assert len(texts) >= 10_000
    assert len(changed) <= 1, changed


HARMLESS = [
    '"output_token": 3, "output_cost_per_token": 1.5e-05, "max_tokens": 8',
    "output_token = tokens.output_token or 0",
    "password_field = models.CharField(max_length=3)",
    "token = lexer.next()",
    "self._pwd = pwd",
    "def extract(self, path=None, pwd=None):",
    "username, password = index_url_user_password",
    "password = getpass.getpass('Password: ')",
    'print("shlex: token=" + repr(raw))',
    "First pass: determine the length",
    "'Cookie': 'http.cookies',",
    "auth = HTTPBasicAuth(*auth)",
    "if not password:\n    raise Refused",
    'class Token:\n    """A piece of text."""',
    "password:\n    type: string",
    'tokens = ["if", "else"]',
    "the secret to good tests is patience",
    "password reset page",
    "token = tokenizer.next()",
    "if (token) {",
    "def get_password(self):",
    "def login(token: str, password: Optional[str] = None) -> None:",
    "self.token = token",
    "login(user, password=password)",
    "client = Client(token=token, secret=secret)",
    "const token = await refresh(session);",
    'password = os.environ["DB_PASSWORD"]',
    "Token::parse(input)",
    "token => {",
    "if token == other:",
    "token-count: 123",
    '"tokens": 5123',
    "max_tokens=4096 total_tokens: 12,345",
    "DB_PASSWORD=$SECRET API_TOKEN=${TOKEN} SECRET_KEY=<your-key>",
    "PASSWORD= TOKEN=null SECRET=*** API_KEY=example",
    'password: "" token: null secret: true',
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "PWD=/home/dev/project OLDPWD=/tmp",
    "https://example.org:8080/a@b",
    "git clone ssh://git@example.org/owner/repo.git",
    "postgres://me:${PASSWORD}@db/x",
    "docker run -u 1000:1000 image && curl https://example.org",
    "task-1234567890abcdefghijklmnop and disk-usage-report-2024-01-01-final",
    "the password of task-1234567890abcdefghijklmnop",
    "0b6f7e0e-5c5b-4e6e-9a3e-1f2e3d4c5b6a",
    "src/auth/token.py:12: password field is required",
    "author: Me <me@example.org>",
    "use --password to set it, and --token-file FILE for the token",
    'grep -n "BEGIN RSA PRIVATE KEY" -r . # finds -----BEGIN RSA PRIVATE KEY----- lines',
    "password=[redacted:password]] and [redacted:token]",
]


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("text", HARMLESS)
def test_redact_leaves_harmless_text_alone(text: str) -> None:
    assert redact(text) == text
    assert redact(json.dumps({"text": text})) == json.dumps({"text": text})


@pytest.mark.req("SEC-04")
def test_redact_leaves_digests_and_images_alone() -> None:
    dice = random.Random(5)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    digest = "".join(dice.choices(letters, k=86)) + "=="
    image = "".join(dice.choices(letters, k=20_000))

    for text in (f'"integrity": "sha512-{digest}"', f"data:image/png;base64,{image} token"):
        assert redact(text) == text


KEPT = [
    ('Cookie: sid="a1b2"; x=1', "Cookie: [redacted:cookie]"),
    ('Cookie: "sid=a1b2"', 'Cookie: "[redacted:cookie]"'),
    ('password = """\na1 b2\n"""', 'password = """[redacted:password]"""'),
    ("password = '''a1'''", "password = '''[redacted:password]'''"),
    ("password:\n  a1\nx: 1", "password:\n  [redacted:password]\nx: 1"),
    ("password: >-\n  a1 b2\nx: 1", "password: >-\n  [redacted:password]\nx: 1"),
    ("password: [a1]", "password: [[redacted:password]]"),
    ('"passwords": ["a1"]', '"passwords": ["[redacted:password]"]'),
    ('"tokens": ["a1B2c3D4e5F6"]', '"tokens": ["[redacted:token]"]'),
    ("it's password='a1'", "it's password='[redacted:password]'"),
    ("postgres://me:hunter2@db:5432/x", "postgres://me:[redacted:password]@db:5432/x"),
    ("export DB_PASSWORD=hunter2 # note", "export DB_PASSWORD=[redacted:password] # note"),
    ("SECRET_KEY = 'a b' + x", "SECRET_KEY = '[redacted:secret]' + x"),
    ("Server=x;Password=a1;User=z", "Server=x;Password=[redacted:password];User=z"),
    ("password: str = 'a1'", "password: str = '[redacted:password]'"),
    ('{"password": "a\\"b", "n": 1}', '{"password": "[redacted:password]", "n": 1}'),
    ("name: DB_PASSWORD\n  value: a1\n", "name: DB_PASSWORD\n  value: [redacted:password]\n"),
    ("password: |\n  a1\nx: 1", "password: |\n  [redacted:password]\nx: 1"),
    ("the password is hunter2.", "the password is [redacted:password]."),
    ("mysql -u root -pa1 db", "mysql -u root -p[redacted:password] db"),
    ("curl -u me:a1 https://x", "curl -u me:[redacted:password] https://x"),
    ("Cookie: a=b; c=d\nnext", "Cookie: [redacted:cookie]\nnext"),
    ('PASSWORD="cut off in the mid', 'PASSWORD="[redacted:password]'),
    ("PASSWORD=a&b,c", "PASSWORD=[redacted:password]"),
]


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize(("text", "expected"), KEPT)
def test_redact_keeps_everything_around_the_secret(text: str, expected: str) -> None:
    assert redact(text) == expected


VALUES: list[tuple[object, object]] = [
    ({"DB_PASSWORD": "x"}, {"DB_PASSWORD": "[redacted:password]"}),
    ({"githubToken": "x"}, {"githubToken": "[redacted:token]"}),
    ({"X-Api-Key": "x"}, {"X-Api-Key": "[redacted:api-key]"}),
    ({"private key": "x"}, {"private key": "[redacted:private-key]"}),
    ({"connection_string": "x"}, {"connection_string": "[redacted:connection-string]"}),
    ({"SENTRY_DSN": "x"}, {"SENTRY_DSN": "[redacted:connection-string]"}),
    ({"Set-Cookie": ["a=b"]}, {"Set-Cookie": ["[redacted:cookie]"]}),
    ({"credentials": {"a": "x"}}, {"credentials": {"a": "[redacted:credential]"}}),
    ({"password": 1234}, {"password": "[redacted:password]"}),
    ({"password": True, "secret": None}, {"password": True, "secret": None}),
    ({"tokens": 5, "token": 7}, {"tokens": 5, "token": 7}),
    ({"token": {"type": "string"}}, {"token": {"type": "string"}}),
    ({"pw_secret": {"value": "x"}}, {"pw_secret": {"value": "[redacted:secret]"}}),
    ({"name": "A_TOKEN", "value": "x"}, {"name": "A_TOKEN", "value": "[redacted:token]"}),
    (["--password", "x", "y"], ["--password", "[redacted:password]", "y"]),
    (["curl", "-u", "me:x"], ["curl", "-u", "me:[redacted:password]"]),
    (("a", {"secret": "${X}"}), ("a", {"secret": "${X}"})),
    ({"auth": "basic"}, {"auth": "basic"}),
    ({"auth": "bWU6aHVudGVyMg=="}, {"auth": "[redacted:credential]"}),
    ({"secret_name": "prod-1", "token_file": "a1"}, {"secret_name": "prod-1", "token_file": "a1"}),
    ({"session_id": "abc", "token_count": "5"}, {"session_id": "abc", "token_count": "5"}),
    ({1: "password=a1", "n": 2.5}, {1: "password=[redacted:password]", "n": 2.5}),
]


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_redact_value_replaces_what_stands_under_secret_keys(
    value: object, expected: object
) -> None:
    assert redact_value(value) == expected
    assert redact_value(expected) == expected


@pytest.mark.req("SEC-04")
def test_redact_value_redacts_keys_and_keeps_them_apart() -> None:
    first, second, _ = (sample for sample in SAMPLES if sample.kind == "github-personal")

    cleaned = redact_value({first.text: 1, second.text: 2})

    assert cleaned == {"[redacted:github-token]": 1, "[redacted:github-token] 2": 2}


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_redact_value_stops_at_a_depth_instead_of_overflowing(wrap: object) -> None:
    assert callable(wrap)
    value: object = "password=a1"
    for _ in range(10_000):
        value = wrap(value)

    cleaned = redact_value(value)

    assert "[redacted:depth]" in str(cleaned)
    assert len(str(cleaned)) < 1000


HOSTILE = [
    *("token=", 'token:"', "password='x", 'password=\\"', "eyJ", "1meyJ", "-sk-", "://a:", "SK"),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "login a password ",
        "name: token value",
        "curl -u ",
        "mysql ",
    ),
    *("token=token(", "cookie: a", "authorization: token ", "1:AA", "sig=", "heroku", "password=&"),
    *("passwords: ['a', ", '"token=[" ', "password:\n  - a\n", "password: # ", "password = 'a' + "),
    *("docker login ", "redis-cli -a ", "htpasswd -b ", "set password ", "a:5432:b:", "-us1"),
]


def seconds(text: str) -> float:
    begin = time.process_time()
    redact(text)
    return time.process_time() - begin


@pytest.fixture(scope="module")
def prose_seconds() -> float:
    """How long the same work takes on as much prose that the prefilter lets through."""
    prose = "the password page: " + "lorem ipsum dolor sit amet, " * (HALF // 28)
    return min(seconds(prose) for _ in range(3))


@pytest.mark.ratio
@pytest.mark.prove
@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("unit", HOSTILE)
def test_redact_takes_linear_time_on_hostile_text(unit: str, prose_seconds: float) -> None:
    hostile = "password " + unit * (HALF // len(unit))

    ratio = seconds(hostile) / prose_seconds

    assert ratio < 40


@pytest.mark.req("SEC-04")
def test_importing_redact_loads_neither_re_nor_json() -> None:
    source = Path(standfast.__file__).parent.parent
    program = (
        f"import sys; sys.path.insert(0, {str(source)!r}); before = set(sys.modules); "
        "import standfast.redaction.redactor as r; r.redact('harmless'); r.might_hold_secret('x'); "
        "print(*sorted(set(sys.modules) - before))"
    )

    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert run.stdout.split() == [
        "standfast",
        "standfast.redaction",
        "standfast.redaction.redactor",
    ]

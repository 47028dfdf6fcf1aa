"""A secret is found beside its name in every form in which people and programs write the two."""

import json

import pytest

from secret_samples import CONTEXTS
from standfast.redaction.redactor import might_hold_secret, redact, redact_value

X = "tr0ub4dor&3xK"
Y = "c0rrect-h0rsE7"

# What stands between a name and its value.
FORMS = [
    *(f"password:\n  - {X}\n", f'password:\n  - "{X}"\n', f"passwords:\n- {X} # old\n- {Y}\n"),
    *(f'passwords: ["{X}", "{Y}"]', f"api_keys = ['{X}', '{Y}']", f"password: [{X}, {Y}]"),
    *(f'password = r"""{X}"""', f'password = f"""{X}"""', f"password = rb'{X}'"),
    *(f'password = f"""\n{X}\n"""', f'PASSWORD = u"{X}"', f'password = $"{X}"'),
    *(f"password: |2-\n    {X}\n", f"password: | # the old one\n  {X}\n", f"password: >+\n  {X}\n"),
    *(f"password: |-\n\n  {X}\n", f"password:\n\n  {X}\n", f"password: # old\n  {X}\n"),
    *(f"Password:\n{X}\n", f'password = (\n    "{X}"\n)', f'password = \\\n    "{X}"'),
    *(f"password=('{X}',)", f'secret = (\n  "{X}"\n  "{Y}"\n)', f"secrets = {{'{X}'}}"),
    *(f"secrets = {{'db': '{X}'}}", f'secrets = {{"db": "{X}", "mq": "{Y}"}}'),
    *(f"password: &pw {X}\n", f"password: !!str {X}\n", f"password: !vault {X}\n"),
    *(f"password: &pw !!str\n  {X}\n", f"password: !!str |\n  {X}\n"),
    *(f'let password: &str = "{X}";', f'const API_KEY: &str = "{X}";', f'char password[] = "{X}";'),
    *(f'static API_KEY: &\'static str = "{X}";', f'password: Optional[Secret] = "{X}"'),
    *(f'const token: Token | undefined = "{X}";', f'var password string = "{X}"'),
    *(f'password = "abc" + "{X}"', f'password = "abc" "{X}"', f"$password = 'abc' . '{X}';"),
    *(f'password = "{Y}" + \\\n  "{X}"', f'password = "abc" \\\n  "{X}"'),
    *(f'process.env.DB_PASSWORD || "{X}"', f"config.password ?? '{X}'"),
]
# What begins as such things do, and is the value.
OWN = [
    *(f"password: !{X}\n", f"password: &{X}\nx: 1\n", f"PASSWORD=!{X} make", f"password = !{X}\n"),
    *(f"password: !{X} # old\n", f"password: +{X}"),
]
# What is called with both, and what wraps the value alone.
CALLS = [
    *(
        f"getenv('DB_PASSWORD', '{X}')",
        f'os.environ.get("API_KEY", "{X}")',
        f"env('a_token', '{X}')",
    ),
    *(
        f"setenv('DB_PASSWORD', '{X}', 1)",
        f'os.putenv("API_KEY", "{X}")',
        f"setenv DB_PASSWORD {X}",
    ),
    *(f"define('DB_PASSWORD', '{X}');", f"define( 'AUTH_KEY',   '{X}' );"),
    *(f'password = SecretStr("{X}")', f"password = pydantic.SecretStr('{X}')"),
    *(f'password: str = Field(default="{X}")', f"token: str = Field(alias='t', default='{X}')"),
    *(f'let password = String::from("{X}");', f'password = base64.b64decode("{X}")'),
    *(f'token: Option<String> = Some("{X}")', f'password := Secret("{X}")'),
]
COOKIES = [
    *(f"curl -b 'session={X}' u", f'curl -sS -b "a=1; session={X}" u', f"curl u -b session={X}"),
    *(f"cookies=dict(session='{X}')", f"cookies={{'session': '{X}'}}"),
    *(f'{{"set-cookie": ["sid={X}; Path=/", "b=1"]}}', f"cookies = {{'a': '1', 'b': '{X}'}}"),
]
COMMANDS = [
    *(f"docker login -u me -p {X}", f"podman login example.org -u me -p '{X}'"),
    *(f"az login -u me -p {X}", f"docker --context c login -p {X} example.org"),
    *(
        f"redis-cli -h cache -a {X} ping",
        f"mongosh -u me -p {X}",
        f"mongodump -u me -p '{X}' --gzip",
    ),
    *(f"ldapsearch -x -D cn=admin -w {X}", f"sqlcmd -S db -U sa -P {X}"),
    *(f"htpasswd -b users me {X}", f"htpasswd -bB -C 10 users me '{X}'", f"htpasswd -nb me {X}"),
    *(f"openssl enc -aes-256-cbc -k {X}", f"openssl rsa -passin pass:{X} -in k"),
    *(f"mysql -uroot -p{X} db", f"sshpass -p {X} ssh x", f"keytool -list -storepass {X}"),
    *(f"CREATE USER x IDENTIFIED BY '{X}'", f"ALTER ROLE x WITH PASSWORD '{X}'"),
    *(f"SET PASSWORD FOR x = PASSWORD('{X}')", f"identified with native by '{X}'"),
    *(f"db.example.org:5432:shop:me:{X}", f"*:*:*:me:{X}"),
    *(f"Authorization: SSWS 00{X}", f"Authorization: GenieKey {Y}9a1b2c3d"),
]
LISTS = [
    ["docker", "login", "-u", "me", "-p", X],
    ["/usr/bin/redis-cli", "-a", X, "ping"],
    ["mongosh", "-u", "me", "-p", X],
    ["curl", "-b", f"session={X}", "https://example.org"],
]


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("text", [*FORMS, *OWN, *CALLS, *COOKIES, *COMMANDS])
def test_secret_is_found_in_every_form(text: str) -> None:
    is_one_line = "\n" not in text.strip()
    for where, embed in CONTEXTS.items():
        if not is_one_line and where in {"the end", "prose", "a listing", "a shell command"}:
            continue  # no YAML and no code begins in the middle of such a line
        shown = embed(text)
        cleaned = redact(shown)

        assert X not in cleaned, (where, cleaned)
        assert Y not in cleaned, (where, cleaned)
        assert might_hold_secret(shown)
        assert redact(cleaned) == cleaned


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("words", LISTS)
def test_secret_is_found_among_the_words_of_a_command(words: list[str]) -> None:
    cleaned = json.dumps(redact_value({"argv": words}))

    assert X not in cleaned
    assert might_hold_secret(json.dumps(words))
    assert X not in redact(json.dumps(words))


EXACTLY = [
    ('password = r"""a1 b2"""', 'password = r"""[redacted:password]"""'),
    ('password = "a1" + "b2"', 'password = "[redacted:password]" + "[redacted:password]"'),
    (
        "password:\n  - a1\n  - b2\nx: 1",
        "password:\n  - [redacted:password]\n  - [redacted:password]\nx: 1",
    ),
    ("password: &pw a1\n", "password: &pw [redacted:password]\n"),
    ('let password: &str = "a1";', 'let password: &str = "[redacted:password]";'),
    ("cookies={'s': 'a1'}", "cookies={'s': '[redacted:cookie]'}"),
    ("docker login -u me -p a1b2 host", "docker login -u me -p [redacted:password] host"),
    ("password: |2-\n    a1\nx: 1", "password: |2-\n    [redacted:password]\nx: 1"),
    ("getenv('DB_PASSWORD', 'a1')", "getenv('DB_PASSWORD', '[redacted:password]')"),
    ("*:*:*:me:a1b2", "*:*:*:me:[redacted:password]"),
    ("htpasswd -b users me a1b2", "htpasswd -b users me [redacted:password]"),
]


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize(("text", "expected"), EXACTLY)
def test_marker_stands_where_the_value_stood(text: str, expected: str) -> None:
    assert redact(text) == expected


HARMLESS = [
    'tokens = ["if", "else", "while"]',
    "secrets:\n  - db_password\n  - api_key\n",
    "passwords:\n  - name: admin\n    from: vault\n",
    'secret = {"type": "string", "title": "Client secret"}',
    "docker run -p 8080:80 nginx && docker login",
    "docker login -u me -p $PASSWORD",
    "docker login --password-stdin",
    "curl -b cookies.txt https://example.org",
    "openssl enc -k $KEY",
    "redis-cli -a $PASS ping",
    "port 127.0.0.1:5432:5432 is taken",
    "ports: ['5432:5432']",
    "os.environ.get('DB_PASSWORD', '')",
    "getenv('DB_PASSWORD', 'placeholder')",
    "password: str = Field(description='what a user types')",
    "password = getpass.getpass('Password: ')",
    "users are identified by their id",
    "cookies = {}",
    "cookies: Mapping[str, str] = {}",
    "token: Token = lexer.next()",
    "Password:\nSubmit\n",
    "print('password:')",
    "ldapsearch -x -W -D cn=admin",
    "'pass': ('pass', '')",
    "user_pass = (user + ':' + password)",
    'password = password.encode("utf-8")',
    "Address6.fromWildcard('2001:db8:*:*:*:*:*:*')",
    "it is 2001:0:ce49:5432:e866:efff:62c3:fffe",
    "mkdir -p /srv/mongo/data",
]


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_form_is_left_alone(text: str) -> None:
    assert redact(text) == text
    assert redact(json.dumps({"text": text})) == json.dumps({"text": text})

"""Planted secrets, drawn from a seed: none stands in this repository as it would in the wild."""

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "-_"
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"


class Planted(NamedTuple):
    """One secret: the text it comes in, and the part that must not be found afterwards."""

    kind: str
    text: str
    secret: str


# kind, prefix, alphabet, length: the whole word is the secret.
_WORDS = (
    ("anthropic", "sk-" + "ant-api03-", URL_SAFE, 93),
    ("openai", "sk-", ALNUM, 48),
    ("openai-project", "sk-" + "proj-", URL_SAFE, 100),
    ("openrouter", "sk-" + "or-v1-", HEX, 64),
    ("groq", "gsk" + "_", ALNUM, 52),
    ("google", "AI" + "za", URL_SAFE, 35),
    ("google-oauth", "GOC" + "SPX-", URL_SAFE, 28),
    ("aws-id", "AK" + "IA", UPPER, 16),
    ("aws-session-id", "AS" + "IA", UPPER, 16),
    ("github-personal", "gh" + "p_", ALNUM, 36),
    ("github-oauth", "gh" + "o_", ALNUM, 36),
    ("github-user", "gh" + "u_", ALNUM, 36),
    ("github-server", "gh" + "s_", ALNUM, 36),
    ("github-refresh", "gh" + "r_", ALNUM, 36),
    ("github-fine", "github" + "_pat_", ALNUM + "_", 82),
    ("gitlab", "gl" + "pat-", URL_SAFE, 20),
    ("slack-bot", "xo" + "xb-", string.digits + "-" + ALNUM, 50),
    ("slack-app", "xa" + "pp-1-", UPPER + "-", 60),
    ("stripe-live", "sk" + "_live_", ALNUM, 24),
    ("stripe-restricted", "rk" + "_live_", ALNUM, 24),
    ("stripe-test", "sk" + "_test_", ALNUM, 24),
    ("stripe-webhook", "wh" + "sec_", ALNUM, 32),
    ("twilio", "S" + "K", HEX, 32),
    ("mailgun", "key" + "-", HEX, 32),
    ("npm", "np" + "m_", ALNUM, 36),
    ("pypi", "py" + "pi-AgEIcHlwaS5vcmc", URL_SAFE, 120),
    ("huggingface", "h" + "f_", ALNUM, 34),
    ("digitalocean", "do" + "p_v1_", HEX, 64),
    ("databricks", "da" + "pi", HEX, 32),
    ("doppler", "d" + "p.pt.", ALNUM, 43),
    ("linear", "lin" + "_api_", ALNUM, 40),
    ("notion", "sec" + "ret_", ALNUM, 43),
    ("notion-new", "nt" + "n_", ALNUM, 46),
    ("vault", "hv" + "s.", URL_SAFE, 90),
    ("age", "AGE-SECRET" + "-KEY-1", UPPER, 58),
    ("heroku-new", "HR" + "KU-", URL_SAFE, 60),
    ("docker", "dckr" + "_pat_", URL_SAFE, 27),
    ("shopify", "sh" + "pat_", HEX, 32),
)


def draw(dice: random.Random, alphabet: str, length: int) -> str:
    """*length* characters, the first and last a letter or digit of the alphabet, one a digit."""
    ends = [char for char in alphabet if char.isalnum()]
    middle = "".join(dice.choices(alphabet, k=length - 3))
    return dice.choice(ends) + dice.choice("23456789") + middle + dice.choice(ends)


def _password(dice: random.Random) -> str:
    return draw(dice, ALNUM + "!*+.:#^~=", 14)


def _structured(dice: random.Random) -> dict[str, tuple[str, str]]:
    """Secrets with an inner shape, or that only what stands around them gives away."""
    word, other, password = draw(dice, URL_SAFE, 43), draw(dice, URL_SAFE, 22), _password(dice)
    hexed, safe = draw(dice, HEX, 32), draw(dice, ALNUM, 20)
    uuid = "-".join(draw(dice, HEX, length) for length in (8, 4, 4, 4, 12))
    aws, azure = draw(dice, BASE64, 40), draw(dice, BASE64, 86) + "=="
    jwt = ".".join("ey" + "J" + draw(dice, URL_SAFE, length) for length in (33, 60)) + "." + word
    basic = base64.b64encode(f"me:{password}".encode()).decode()
    telegram, discord = "AA" + draw(dice, URL_SAFE, 33), "MT" + draw(dice, ALNUM, 22)
    discord += f".{draw(dice, URL_SAFE, 6)}.{draw(dice, URL_SAFE, 38)}"
    return {
        "jwt": (jwt, jwt),
        "sendgrid": (f"SG.{other}.{word}", word),
        "telegram": (f"{dice.randrange(10**8, 10**10)}:{telegram}", telegram),
        "discord": (discord, discord),
        "slack-webhook": ("https://hooks.slack.com/" + f"services/T0/B0/{safe}", safe),
        "discord-webhook": (f"https://discord.com/api/webhooks/12345678/{word}", word),
        "aws-secret": (f"aws_secret_access_key = {aws}", aws),
        "azure-storage": (f"DefaultEndpointsProtocol=https;AccountKey={azure};X=1", azure),
        "azure-sas": (f"https://a.blob.core.windows.net/c?sv=2&sig={safe}%2B{safe}%3D", safe),
        "twilio-auth": (f"twilio auth {hexed}", hexed),
        "heroku": (f"HEROKU_API_KEY={uuid}", uuid),
        "cloudflare": (f"CLOUDFLARE_API_TOKEN={word[:40]}", word[:40]),
        "bearer": (f"Authorization: Bearer {word}", word),
        "basic": (f"Authorization: Basic {basic}", basic),
        "curl-user": (f"curl -u me:{safe} https://example.org", safe),
        "postgres": (f"postgres://me:{safe}@db.example.org:5432/x", safe),
        "mysql-url": (f"mysql://me:{safe}@db.example.org/x", safe),
        "mongodb": (f"mongodb+srv://me:{safe}@c.example.org/x", safe),
        "redis": (f"redis://:{safe}@cache:6379/0", safe),
        "amqp": (f"amqp://me:{safe}@mq", safe),
        "https-url": (f"https://me:{safe}@example.org/x.git", safe),
        "env": (f"export DB_PASSWORD={password}", password),
        "env-short": (f"SMTP_PASS={password}", password),
        "env-lower": (f"db_password={password}", password),
        "env-spaced": (f"SECRET_KEY = '{password} {safe}'", f"{password} {safe}"),
        "yaml": (f'api_token: "{safe}"', safe),
        "odbc": (f"Server=db;Uid=me;Password={safe};Encrypt=yes", safe),
        "flag": (f"tool --password {password} run", password),
        "flag-equals": (f"tool --token={safe} run", safe),
        "header": (f"X-Api-Key: {safe}", safe),
        "camel": (f"githubToken: '{safe}'", safe),
        "netrc": (f"machine example.org login me password {password}", password),
        "docker-auth": (f'{{"auths": {{"h": {{"auth": "{basic}"}}}}}}', basic),
        "kube": (f"    token: {safe}", safe),
        "kube-key": ("client-key-data: LS0tLS1CRUdJTiB" + f"SU0{safe}{safe}", safe),
        "cookie": (f"Cookie: sessionid={safe}; theme=dark", safe),
        "set-cookie": (f"Set-Cookie: sid={safe}; Path=/; HttpOnly", safe),
        "query": (f"https://example.org/cb?access_token={safe}&x=1", safe),
        "xml": (f"<password>{safe}</password>", safe),
    }


def _key_blocks(dice: random.Random) -> Iterator[Planted]:
    for name in ("RSA ", "EC ", "OPENSSH ", "", "PGP "):
        lines = [draw(dice, BASE64, 64) for _ in range(6)]
        rest = " BLOCK" if name == "PGP " else ""
        head, foot = (
            f"-----{word} {name}PRIVATE" + f" KEY{rest}-----" for word in ("BEGIN", "END")
        )
        yield Planted("pem", "\n".join((head, *lines, foot)), lines[3])
        yield Planted("pem-cut", "\n".join((head, *lines[:4], lines[4][:30])), lines[4][:30])


def planted(seed: int) -> list[Planted]:
    """At least 200 secrets of at least 40 kinds."""
    dice = random.Random(seed)
    found: list[Planted] = []
    for _ in range(3):
        for kind, prefix, alphabet, length in _WORDS:
            body = draw(dice, alphabet, length)
            found.append(Planted(kind, prefix + body, body))
        found += (Planted(kind, *pair) for kind, pair in _structured(dice).items())
    return [*found, *_key_blocks(dice)]


def _shell(text: str) -> str:
    return f"cd /srv && {text}\nmake"


CONTEXTS: dict[str, Callable[[str], str]] = {
    "bare": lambda text: text,
    "a line": lambda text: f"first line\n{text}\nlast line\n",
    "the start": lambda text: f"{text} was what it said",
    "the end": lambda text: f"what it said was {text}",
    "prose": lambda text: f"I looked, and ({text}) is there.",
    "json": lambda text: json.dumps({"output": text, "n": 1}),
    "json after a break": lambda text: json.dumps({"output": f"x\n{text}\ny"}),
    "json in json": lambda text: json.dumps({"line": json.dumps({"output": f"x\n{text}\ny"})}),
    "a shell command": _shell,
    "a coloured terminal": lambda text: f"\x1b[31m{text}\x1b[0m",
    "a listing": lambda text: f"     1→{text}\n     2→done",
}
WORD_CONTEXTS: dict[str, Callable[[str], str]] = {
    "an env file": lambda text: f"A=1\nMY_VALUE={text}\nB=2\n",
    "a URL": lambda text: f"https://example.org/v1/{text}/x?y={text}&z=1",
    "quotes": lambda text: f"call('{text}', \"{text}\")",
}

"""The one door through which text leaves for a disk: secrets are replaced by `[redacted:KIND]`.

Hooks import this module in a bare interpreter, so it imports nothing itself. A prefilter of
plain substrings decides whether the regular expressions are loaded at all; what it lets pass
is written as it is, so it must hit on everything that `redact` would change, also when the
text is JSON and its quotes and line breaks are escaped.
"""

MASK = "[redacted:"  # how what stands in a secret's place begins

# A pass may lay bare a boundary that hid a second secret; more than a few never happens.
_PASSES = 4

# What provider keys begin with, which all mind their case; one stands for all that contain it.
_EXACT = (
    *("gsk_", "xai-", "pplx-", "AIza", "GOCSPX-", "ya29.", "1//0", "AKIA", "ASIA", "ABIA"),
    *("ACCA", "Q~", "hf_", "r8_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "_pat_", "glpat-"),
    *("glsa_", "gldt-", "xox", "xapp-", "hooks", ":AA", "SG.", "key-", "npm_", "k_live_"),
    *("k_test_", "whsec_", "pypi-", "_v1_", "HRKU-", "dapi", "dp.", "lin_", "ntn_", "hvs."),
    *("hvb.", "hvr.", "shp", "sntry", "ATATT3", "eyJ", "LS0tLS1CRUdJTiB", "AZDO", "atlasv1"),
    *("_mmk", ":APA91b", "ABSK", "amzn.mws.", "bce-v3/ALTAK-", "fm2_", "fm1a_"),
    *("fm1r_", "v1.0-", "pscale_tkn_", "pscale_pw_", "pscale_oauth_", "essu_", "glrt-"),
    *("ATCTT3", "snyk_uat.", "snyk_sat.", "authress_", "scauth_", "glc_", "dt0c01.", "dt0s01."),
    *("dt0s16.", "tfp_", "testsk_", "mlsn.", "sec-c-", "sub-c-", "pub-c-", "sha256~", "sl.B"),
    *("sl.u.", "glrtr-", "AQ.Ab", "webhookb2", "_gitlab_session="),
)
# The same, looked for in long words alone: a key of these is one word.
_WORDS = (
    *(b"sk-proj-", b"sk-svcacct-", b"sk-admin-", b"sk-or-", b"sk-lf-", b"pk-lf-"),
    *(b"sk-helicone-", b"nvapi-", b"lsv2_pt_", b"lsv2_sk_", b"tvly-", b"csk-", b"bb_live_"),
    *(b"bb_test_", b"pcsk_", b"flp_", b"api_org_", b"LTAI", b"AKID", b"AKLT", b"AQVN", b"fo1_"),
    *(b"vercel_", b"cfut_", b"cfat_", b"sbp_", b"mdb_sa_sk_", b"CCDB1_", b"xau_", b"GR1348941"),
    *(b"glft-", b"gloas-", b"glcbt-", b"glffct-", b"glimt-", b"glagent-", b"glptt-"),
    *(b"glsoat-", b"glwt-", b"ATBB", b"ATOA", b"ATTA", b"rubygems_", b"CLOJARS_", b"dckr_oat_"),
    *(b"AKCp", b"cmVmdGtu", b"squ_", b"sqp_", b"sqa_", b"CCIPAT_", b"CCIPRJ_", b"bkua_"),
    *(b"bkaj_", b"bkct_", b"sgp_", b"pnu_", b"pnb_", b"tk-us-", b"dbtc_", b"dbtu_", b"dbts_"),
    *(b"nsec1", b"ory_st_", b"ory_at_", b"ory_rt_", b"jca_", b"nbp_", b"NRAK-", b"NRII-"),
    *(b"NRJS-", b"NRRA-", b"NRBR-", b"hcaik_", b"hcbik_", b"hcxik_", b"phx_", b"phs_"),
    *(b"figd_", b"figdr_", b"figo_", b"figor_", b"PMAK-", b"PMAT-", b"rdme_", b"CFPAT-"),
    *(b"fio-u-", b"n8n_api_", b"apify_api_", b"zpka_", b"tr_dev_", b"tr_prod_", b"tr_stg_"),
    *(b"sk_prod_", b"sk_dev_", b"pat-na1-", b"pat-na2-", b"pat-eu1-", b"pat-ap1-", b"xkeysib-"),
    *(b"xsmtpsib-", b"os_v2_app_", b"os_v2_org_", b"KEY01", b"EAACEdEose0cBA", b"IGQV"),
    *(b"IGAA", b"rk_prod_", b"sq0atp-", b"sq0csp-", b"sq0idp-", b"access-sandbox-"),
    *(b"access-development-", b"access-production-", b"rzp_live_", b"rzp_test_", b"FLWSECK-"),
    *(b"FLWSECK_TEST-", b"FLWPUBK-", b"FLWPUBK_TEST-", b"pdl_live_apikey_"),
    *(b"pdl_sdbx_apikey_", b"polar_oat_", b"live_pub_", b"test_pub_", b"shippo_live_"),
    *(b"shippo_test_", b"EZAK", b"EZTK", b"duffel_live_", b"duffel_test_", b"sk_sbox_"),
    *(b"sm_aat_", b"sm_sat_", b"s-s4t2ud-", b"s-s4t2af-", b"p8e-", b"scp-live-", b"scp-test-"),
    *(b"cal_live_", b"aio_", b"KGAT_"),
)
# The same, but found in much else: looked for in long words that hold a digit.
SHORT = (
    *(b"fw_", b"pa-", b"jina_", b"fc-", b"e2b_", b"m0-", b"sk_", b"y0_", b"vcp_", b"vci_"),
    *(b"vca_", b"vcr_", b"nfp_", b"nfc_", b"nfo_", b"nfu_", b"nfb_", b"rnd_", b"SCW", b"napi_"),
    *(b"cio", b"oy2", b"sgd_", b"slk_", b"API-", b"pul-", b"ico-", b"A3-", b"sdk-", b"mob-"),
    *(b"api-", b"pk_", b"retool_", b"unkey_", b"md-", b"re_", b"EAAC", b"EAAM", b"EAAG"),
    *(b"EAAB", b"AQE", b"ck_", b"cs_", b"waka_", b"chpt_", b"ddp_", b"ddo_", b"dub_"),
    b"EAAA",
)
_SHORTEST_KEY = 16  # no key of theirs has fewer characters in one piece

# Whose keys have nothing of their own to be told by.
_PROVIDERS = (
    *("heroku", "cloudflare", "twilio", "mailgun", "adafruit", "adobe", "airtable", "algolia"),
    *("alibaba", "aliyun", "amplitude", "asana", "assemblyai", "atlassian", "jira"),
    *("confluence", "auth0", "devops", "vsts", "visualstudio", "azure", "cognitive", "binance"),
    *("bitbucket", "bittrex", "boxapi", "box_client", "browserstack", "bugsnag", "censys"),
    *("cloudsmith", "codecov", "cohere", "coinbase", "confluent", "contentful", "customer.io"),
    *("customerio", "datadog", "deepgram", "discord", "droneci", "dropbox", "etherscan"),
    *("etsy", "exa_api", "exa.ai", "facebook", "fastly", "finicity", "finnhub", "flickr"),
    *("freshbooks", "freshdesk", "gitea", "forgejo", "codeberg", "gitter", "gocardless"),
    *("godaddy", "hellosign", "hetzner", "hcloud", "hubspot", "ibm_cloud", "ibmcloud"),
    *("bluemix", "infura", "intercom", "jfrog", "artifactory", "kraken", "kucoin"),
    *("launchdarkly", "linear_client", "linkedin", "linked_in", "linode", "looker"),
    *("mailchimp", "mattermost", "meraki", "messagebird", "mistral", "mixpanel", "netlify"),
    *("newsapi", "ngrok", "nytimes", "okta", "openweather", "opsgenie", "optimizely"),
    *("pagerduty", "percy", "plaid", "plivo", "postmark", "privateai", "private_ai", "pusher"),
    *("railway", "rapidapi", "rollbar", "sambanova", "saucelabs", "sauce_access", "sendbird"),
    *("sentry", "serper", "shodan", "snyk", "sparkpost", "splunk", "spotify", "squarespace"),
    *("steam", "sumologic", "sumo_logic", "telegram", "tiingo", "travis", "twitch", "twitter"),
    *("virustotal", "vultr", "wandb", "yelp", "zendesk", "zerotier", "zoom_client", "zoomus"),
)
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
_BETWEEN = bytes(
    code if code in _LETTERS or code in b"0123456789" else ord(" ") for code in range(256)
)

# Words too common to be told apart without what follows or precedes them.
_PASS = ("passw", "passp", "passc", "_pass", "-pass", ".pass", "sshpass", "pgpass")
_SK = ("sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-", "sk-admin-")

# Names of two words, looked for with whatever stands between the words taken out.
_COMPOUNDS = (
    *("apikey", "accesskey", "privatekey", "accountkey", "authkey", "signingkey", "sshkey"),
    *("encryptionkey", "masterkey", "sharedkey", "clientkey", "sessionkey", "servicekey"),
    *("licensekey", "hmackey", "deploykey", "connectionstring", "connstr"),
)

_QUOTES = 24
_HEX = "0123456789abcdef"
_DISCORD_MIDDLE = 6
_BEHIND_DOT = 64
_LONG_USER = 20


def might_hold_secret(text: str) -> bool:
    """Whether *text*, plain or as JSON, holds anything that `redact` could want to change."""
    lower = text.lower()
    return (
        _holds_name(lower)
        or _holds_common_word(lower)
        or _holds_key_with_blanks(text)
        or _holds_command(lower)
        or ("@" in text and "://" in text and _holds_user_info(text))
        or (_has_long_word(text) and _holds_key(text, lower))
    )


def _holds_name(lower: str) -> bool:
    """Names that stand before a secret. Spelled out: a loop over them takes twice as long."""
    return (
        "secret" in lower
        or "token" in lower
        or "credential" in lower
        or "cookie" in lower
        or "bearer" in lower
        or "authorization" in lower
        or "pwd" in lower
        or "dsn" in lower
        or "mysql" in lower
        or "curl" in lower
    )


def _holds_command(lower: str) -> bool:
    """Programs that take a secret in a flag of one letter, and lines that hold one in a place."""
    return (
        ("-p" in lower and ("login" in lower or "mongo" in lower or "sqlcmd" in lower))
        or "redis-cli" in lower
        or "valkey-cli" in lower
        or "keydb-cli" in lower
        or "openssl" in lower
        or ("ldap" in lower and "-w" in lower)
        or ("-storepass" in lower or "-keypass" in lower)
        or ("identified" in lower and "by" in lower)
        or ":5432:" in lower
        or ":*:" in lower
    )


def _holds_key_beside_a_word(lower: str) -> bool:
    return (
        ("vault" in lower and "s." in lower)
        or ("cursor" in lower and ("key_" in lower or "crsr_" in lower))
        or ("modal" in lower and ("as-" in lower or "ak-" in lower))
        or ("app_key" in lower and "base64:" in lower)
        or "authtoken" in lower
    )


def _holds_key_with_blanks(text: str) -> bool:
    """Keys that may hold blanks or `/`: a rare character is looked for before each of them."""
    return (
        ("P" in text and ("PRIVATE KEY" in text or "Private-Lines" in text))
        or ("=" in text and ("sig=" in text or "ignature=" in text))
        or ("+" in text and "+ASt" in text)
        or "whsec_" in text
    )


def _has_long_word(text: str) -> bool:
    """Most texts are words and paths, none as long as a key: one split saves fifty searches."""
    words = text.replace('"', " ").replace("/", " ").split(" ")
    return max(map(len, words)) >= _SHORTEST_KEY


def _holds_key(text: str, lower: str) -> bool:
    return any(map(text.__contains__, _EXACT)) or _holds_long_key(text, lower) or _holds_shape(text)


def _holds_long_key(text: str, lower: str) -> bool:
    """Keys that are one word: most texts have few words as long, and those with a digit fewer."""
    every = text.encode("utf-8", "replace").translate(_BETWEEN).split()
    words = [word for word in every if len(word) >= _SHORTEST_KEY - 1]
    if any(map(b" ".join(words).__contains__, _WORDS)):
        return True
    if any(_follows_dot(text, word.decode()) for word in words if len(word) >= _BEHIND_DOT):
        return True
    opaque = b" ".join([word for word in words if word.strip(_LETTERS)])
    return bool(opaque) and (
        any(map(opaque.__contains__, SHORT)) or any(map(lower.__contains__, _PROVIDERS))
    )


def redact(text: str) -> str:
    """*text* with every secret replaced by `[redacted:KIND]`, and not a byte else changed."""
    for _ in range(_PASSES):
        if not might_hold_secret(text):
            return text
        cleaned = _one_pass(text)
        if cleaned == text:
            return text
        text = cleaned
    return text


def redact_value(value: object) -> object:
    """A JSON-like *value* with its strings redacted, those under secret-looking keys wholly."""
    from standfast.redaction.json_values import walk  # with what it needs, on a hit only

    return walk(value, None, 0)


def squeeze(lower: str) -> str:
    """A lower-case name without what people put between its words."""
    return lower.replace("_", "").replace("-", "").replace(".", "").replace(" ", "")


def _one_pass(text: str) -> str:
    from standfast.redaction.patterns import redact_once  # loads `re`, so on a hit only

    return redact_once(text)


def _holds_common_word(lower: str) -> bool:
    return (
        ("pass" in lower and (any(part in lower for part in _PASS) or _assigns(lower, "pass")))
        or ("auth" in lower and _assigns(lower, "auth"))
        or (("key" in lower or "conn" in lower) and _holds_compound(lower))
    )


def _assigns(lower: str, word: str) -> bool:
    """Whether *word* ends a name that is given a value, whatever quotes stand around the name."""
    at = lower.find(word)
    while at >= 0:
        at += len(word)
        if lower[at : at + _QUOTES].lstrip("\\\"' \t")[:1] in {"=", ":"}:
            return True
        at = lower.find(word, at)
    return False


def _holds_compound(lower: str) -> bool:
    squeezed = squeeze(lower)
    return any(compound in squeezed for compound in _COMPOUNDS)


def _holds_shape(text: str) -> bool:
    """Whether a secret without a telling prefix may be here: each guard is one substring test."""
    return (
        _holds_key_beside_a_word(text.lower())
        or ("-us" in text and _holds_datacenter(text))
        or ("sk-" in text and (any(key in text for key in _SK) or _starts_a_word(text, "sk-")))
        or ("SK" in text and _holds_twilio_key(text))
        or (text.count(".") > 1 and _holds_discord_token(text))
    )


def _starts_a_word(text: str, prefix: str) -> bool:
    at = text.find(prefix)
    while at >= 0:
        if _ends_a_word(text[max(at - 6, 0) : at]):
            return True
        at = text.find(prefix, at + 1)
    return False


def _ends_a_word(before: str) -> bool:
    r"""Whether a word may begin after *before*, which may end in an escape: \n, %3D, ESC[31m."""
    last = before[-1:]
    return (
        not (last.isascii() and last.isalnum())
        or before[-2:-1] == "\\"
        or before[-3:-2] == "%"
        or before.startswith("\\u")
        or (last == "m" and ("[" in before[-4:] or ";" in before[-4:]))
    )


def _holds_user_info(text: str) -> bool:
    for chunk in text.split("://")[1:]:
        user, at, _ = chunk[:1024].partition("@")
        if at and (":" in user or len(user) >= _LONG_USER):
            return True
    return False


def _follows_dot(text: str, word: str) -> bool:
    """Whether *word* is the long part of a key of Airtable (`pat….`) or of Dropbox (`sl.`)."""
    parts = text.split(f".{word}")[:-1]
    return any(part.endswith("sl") or part[-17:-14] == "pat" for part in parts)


def _holds_datacenter(text: str) -> bool:
    before = ""
    for chunk in text.split("-us"):
        if before and chunk[:1].isdigit() and not before.strip(_HEX):
            return True
        before = chunk[-32:]
    return False


def _holds_twilio_key(text: str) -> bool:
    for chunk in text.split("SK")[1:]:
        digits = chunk[:32]
        if len(digits) == 32 and not digits.strip(_HEX):  # noqa: PLR2004 - the key's length
            return True
    return False


def _holds_discord_token(text: str) -> bool:
    return any(len(part) == _DISCORD_MIDDLE for part in text.split(".")[1:-1])

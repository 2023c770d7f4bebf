"""The table of known shapes of secrets, and what only looks like one (RULES 4.3). `secrets.scan` reads with it."""

import re
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

# Characters of a word from which on it may be a token.
LONG: Final = 20


class Shape(NamedTuple):
    """One known shape. Its pattern is tried where a hint stands in the text; `judge` has the last word.

    The group `value`, if there is one, is the secret; else the whole match is. `joins` says whether it is also
    looked for in lines that were joined: only shapes that cannot arise from ordinary words may be. `is_long`: a match
    is one word of at least `LONG` characters without a colon, so that other words need not be looked at. `near`, where
    a hint is an everyday word, is what else must stand in the lower-case text; it is quicker than the pattern.
    """

    rule: str
    hints: tuple[str, ...]
    source: str
    judge: Callable[[re.Match[str]], bool]
    joins: bool = True
    is_long: bool = False
    near: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern; most are never asked for, and compiling all of them would cost every start."""
        return _compiled(self.source)

    @property
    def folds(self) -> bool:
        """Whether upper and lower case are the same to it."""
        return self.source.startswith("(?i)")

    def may_stand_in(self, lowered: str) -> bool:
        """Whether it is worth trying the pattern on the text that this is in lower case."""
        return not self.near or bool(_compiled(self.near).search(lowered))


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


# --- what is no secret ------------------------------------------------------------------------------------------

# Values that vendors print in their own manuals, spelt in halves so that this file holds none of them.
ALLOWED: Final = frozenset(
    {
        "AKIA" + "IOSFODNN7EXAMPLE",
        "ASIA" + "IOSFODNN7EXAMPLE",
        "AKIA" + "I44QH8DHBEXAMPLE",
        "ASIA" + "Y34FZKBOKMUTVV7A",
        "wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYEXAMPLEKEY",
        "je7MtGbClwBF/2Zp9Utk" + "/h3yCo8nvbEXAMPLEKEY",
        # The account key of the Azure storage emulator, the same on every machine.
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6" + "tq/K1SZFPTOtr/KBHBeksoGMGw==",
    }
)

_MASK = re.compile(r"[xX*.#•…]{4}")
_MASKING = re.compile(r"[xX*.#•…_\-~]+")
_ASKING = re.compile(
    r"(?i:(?:^|[^a-z])(?:your|insert|replace|placeholder|change[_-]?me|redacted|todo)(?:[^a-z]|$))"
    r"|(?:Token|Key|Secret)Here"
)
# Words that stand where a secret would; the numbers people add to them do not make them secret.
_PLACEHOLDER = re.compile(
    r"(?i)(?:(?:my|your|the|some|new|old|test|dummy|fake|sample|example|dev|local|valid|wrong|bad|super|db)[_-]?){0,3}"
    r"(?:pass(?:word|wd|phrase)?|pwd|pw|user(?:name)?|test|example|demo|dummy|fake|foo|bar|baz|xyz|abc|admin|root|guest"
    r"|string|str|token|key|value|none|null|true|false|hidden|foobar(?:ed)?|postgres)(?:1|12|123|1234|12345)?"
    r"|(?:my|your|the|client|app|top|super)?[_-]?(?:secret(?:str|string)?|api[_-]?key)"
)
_PLACEHOLDING = re.compile(
    r"(?i)your[_-]|[_-]here\b|replace|placeholder|change[_-]?(?:me|this|it)|redacted|insert|example"
    r"|dummy|fake|not[_-]?a|todo|\$\{|\$\(|\{\{|%\(|\.\.\."
)
_REFERENCE = re.compile(r"[$<\[{%@&*(~/.\\`#!:]")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+")
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,20}://")
_ALGORITHM = re.compile(
    r"(?i)(?:pbkdf2|argon2(?:id|i|d)?|bcrypt|scrypt|oauth2?|openid|base(?:16|32|58|64)(?:url)?|utf-?8|http[s23]?|x509"
    r"|(?:sha|md|aes|rsa|ed|es|hs|rs|ps|curve|x)-?\d{1,5}|2fa|mfa|k8s|s3|ec2|i18n|uuid(?:v?\d)?|jwt)+"
)
_PART = re.compile(r"[-_./:+=@,\s]+")
_RUNS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def _is_filler(body: str) -> bool:
    """Whether a token's body is masked, or asks to be replaced. Low entropy alone is no excuse (case 29)."""
    if _ASKING.search(body):
        return True
    # Padding a real token with x would otherwise hide it: what is left without the mask must be next to nothing.
    return bool(_MASK.search(body)) and len(set(_MASKING.sub("", body))) <= 4


def _is_reference(value: str) -> bool:
    """Whether a value only points to a secret or stands for one: variables, calls, names, paths, examples."""
    return bool(
        _REFERENCE.match(value)
        or _PLACEHOLDING.search(value)
        or _PLACEHOLDER.fullmatch(value)
        or _DOTTED.fullmatch(value)
        or _ADDRESS.match(value)
        or _ALGORITHM.fullmatch(value)
        or _is_filler(value)
    )


def is_worded(part: str) -> bool:
    """Whether a part is a word, an identifier or a number, perhaps a word with a short number behind it."""
    if part.isdigit() or not part:
        return True
    runs = _RUNS.findall(part)
    letters = [run for run in runs if not run.isdigit()]
    if len(runs) == len(letters):
        return len(letters) * 3 <= len(part) or len(part) < 6
    return len(letters) == 1 and len(runs) == 2 and runs[1].isdigit() and len(runs[1]) <= 4


def _is_random(value: str) -> bool:
    """Whether it looks made by a machine: at least 8 characters in parts that are neither words nor numbers."""
    odd = sum(len(part) for part in _PART.split(value) if not is_worded(part))
    return odd >= 8 and sum(char.isalpha() for char in value) >= 2


def _is_password(value: str) -> bool:
    """Whether it looks chosen by a person as a password: at least 6 characters, letters and something else."""
    if len(value) < 6 or not value.isprintable() or " " in value:
        return False
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return (mixed or bool(re.search(r"[A-Za-z][!@#$%^&*?~]+[A-Za-z]", value))) and not (
        # Several words with hyphens are a name (`my-secret-v2`), one word with a number is a password (`hunter2`).
        len(parts := _PART.split(value)) > 1 and all(map(is_worded, parts))
    )


def _token(match: re.Match[str]) -> bool:
    return not _is_filler(match["body"])


def _anything(_match: re.Match[str]) -> bool:
    return True


def _real_random(match: re.Match[str]) -> bool:
    return not _is_reference(match["value"]) and _is_random(match["value"])


def _real_password(match: re.Match[str]) -> bool:
    value = match["value"]
    return not _is_reference(value) and (_is_password(value) or _is_random(value))


def _url_password(match: re.Match[str]) -> bool:
    """Anything but a placeholder; a password equal to its user is the documented default of a local service."""
    value, user = match["value"], match["user"]
    if len(value) < 4 or value.lower() == user.lower() or len(set(value)) == 1 or (value.isdigit() and len(value) < 6):
        return False
    return not _is_reference(value) and not _REFERENCE.match(user)


# Names whose values are public, or are names, counts or identifiers themselves.
_PUBLIC = re.compile(r"(?i)(?:public|csrf|xsrf|next|page|pagination|continuation|sync|cancel\w*)[_.-]?$")
_NO_SECRET_KEY = re.compile(
    r"(?i)(?:^|cache|primary|public|foreign|partition|sort|object|bucket|s3|kms|lookup|group|hot|registry|unique|index"
    r"|dedup|idempotency|row|map|query|storage|session|column|host|gpg|pgp|known|i18n|message|translation)[_.-]?$"
)
_NAME_HEAD = re.compile(r"[A-Za-z0-9_.-]*$")


def _assigned(match: re.Match[str]) -> bool:
    """A value given to a name that says it is secret; a call or a comparison with a name is not."""
    value, name, text = match["value"], match["name"].lower(), match.string
    head = _NAME_HEAD.search(text, max(0, match.start() - 40), match.start())
    before = head[0] if head else ""
    if _PUBLIC.search(before) or _is_reference(value) or text[match.end() : match.end() + 1] in {"(", "["}:
        return False
    quoted = match["quote"] is not None
    if name == "key":
        return not _NO_SECRET_KEY.search(before) and len(value) >= 20 and " " not in value and _is_random(value)
    if name.startswith(("pass", "pw", "密码", "口令")):
        return _is_password(value) or (" " not in value and _is_random(value))
    return " " not in value and _is_random(value) and (quoted or any(char.isdigit() for char in value))


def _slack(match: re.Match[str]) -> bool:
    # Without numbers it is prose about the prefix.
    return sum(char.isdigit() for char in match["body"]) >= 4 and _token(match)


def _mixed(match: re.Match[str]) -> bool:
    body = match["body"]
    return any(map(str.isdigit, body)) and any(map(str.isupper, body)) and any(map(str.islower, body))


# --- the table ------------------------------------------------------------------------------------------------

_LEFT: Final = {
    "any": "",  # a prefix that no word contains: found even behind padding
    "word": "(?<![A-Za-z0-9])",
    "tight": r"(?<![\w.+/-])",
}
_B, _H, _S, _W, _D, _64 = "A-Za-z0-9", "0-9a-fA-F", r"\w", r"\w-", r"\w.-", "A-Za-z0-9+/=_-"


class Prefix(NamedTuple):
    """A vendor's token: one of the prefixes (by spaces), then at least `least` characters of a class."""

    rule: str
    prefixes: str
    body: str
    least: int
    left: str = "any"

    def shape(self) -> Shape:
        """The shape that this row stands for."""
        hints = tuple(self.prefixes.split())
        start = "|".join(map(re.escape, hints))
        # Nothing follows the open-ended body, so every match consumes what it has read: linear time.
        pattern = rf"{_LEFT[self.left]}(?:{start})(?P<body>(?a:[{self.body}]{{{self.least},}}))"
        return Shape(f"secret:{self.rule}", hints, pattern, _token, is_long=True)


PREFIXES: Final = (
    Prefix("github-token", "ghp_ gho_ ghs_ ghu_ ghr_", _W, 20),
    Prefix("github-token", "github_pat_", _S, 22),
    Prefix(
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glptt- glft- glimt- glagent- gloas- glcbt- glsoat- glffct- glwt- GR1348941",
        _D,
        20,
    ),
    Prefix("bitbucket-token", "ATBB ATCTT3", _64, 24, "word"),
    Prefix("atlassian-token", "ATATT3", _64, 30),
    Prefix("slack-token", "xoxe.xoxp-1- xoxe-1- xoxd-", "A-Za-z0-9%+/=-", 40),
    Prefix("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_ whsec_ sk_org_live_", _64, 20),
    Prefix("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", _W, 20, "word"),
    Prefix("anthropic-key", "sk-ant-", _W, 20),
    Prefix("openrouter-key", "sk-or-v1-", _H, 32),
    Prefix("langfuse-key", "sk-lf-", "0-9a-f-", 32),
    Prefix("api-key", "sk-", _B, 20, "word"),
    Prefix("google-api-key", "AIza", _W, 33, "tight"),
    Prefix("google-oauth", "GOCSPX-", _W, 20),
    Prefix("google-oauth", "ya29. 1//0", _W, 30, "tight"),
    Prefix("npm-token", "npm_", _B, 30),
    Prefix("pypi-token", "pypi-AgE", _W, 30),
    Prefix("docker-token", "dckr_pat_ dckr_oat_", _W, 20),
    Prefix("huggingface-token", "api_org_", _B, 30, "word"),
    Prefix("brevo-key", "xkeysib- xsmtpsib-", _W, 32),
    Prefix("mailgun-key", "key-", "0-9a-f", 32, "tight"),
    Prefix("twilio-key", "SK", "0-9a-f", 32, "tight"),
    Prefix("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", _H, 32),
    Prefix("azure-storage-key", "AccountKey= SharedAccessKey= AccessKey=", "A-Za-z0-9+/=", 40),
    Prefix("azure-sas", "sig=", "A-Za-z0-9%+/=", 40, "word"),
    Prefix("bedrock-key", "ABSK", "A-Za-z0-9+/=", 100),
    Prefix("bedrock-key", "bedrock-api-key-", "A-Za-z0-9+/=", 40),
    Prefix("1password-token", "ops_eyJ", _64, 50),
    Prefix("age-key", "AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1", "A-Z0-9", 40),
    Prefix("vault-token", "hvs. hvb. hvr.", _W, 20, "word"),
    Prefix("databricks-token", "dapi", _H, 32, "word"),
    Prefix("shopify-token", "shpat_ shpca_ shppa_ shpss_", _B, 20),
    Prefix("linear-key", "lin_api_ lin_oauth_", _B, 30),
    Prefix("notion-token", "ntn_", _B, 40),
    Prefix("notion-token", "secret_", _B, 43, "tight"),
    Prefix("postman-key", "PMAK-", _W, 20),
    Prefix("grafana-token", "glsa_", _S, 30),
    Prefix("grafana-token", "glc_ eyJrIjoi", "A-Za-z0-9+/=", 30),
    Prefix("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", _D, 30, "word"),
    Prefix("fly-token", "fo1_ fm1_ fm1a_ fm1r_ fm2_", _64, 30, "word"),
    Prefix("supabase-key", "sbp_ sb_secret_", _W, 20, "word"),
    Prefix("cloudflare-token", "cfat_ cfut_ cfk_", _B, 40),
    Prefix("cloudflare-token", "v1.0-", "0-9a-f-", 100),
    Prefix("planetscale-token", "pscale_pw_ pscale_tkn_ pscale_oauth_", _D, 20),
    Prefix("rubygems-key", "rubygems_", _H, 32),
    Prefix("clojars-token", "CLOJARS_", _B, 40),
    Prefix("crates-token", "cio", _B, 32, "tight"),
    Prefix("nuget-key", "oy2", "a-z0-9", 43, "tight"),
    Prefix("pulumi-token", "pul-", _H, 40, "word"),
    Prefix("sentry-token", "sntrys_ sntryu_", _64, 40),
    Prefix("newrelic-key", "NRAK- NRJS- NRII- NRIQ- NRRA-", _W, 19),
    Prefix("dynatrace-token", "dt0c01. dt0s01. dt0s16.", "A-Z0-9.", 40),
    Prefix("readme-key", "rdme_", _B, 40),
    Prefix("typeform-token", "tfp_", _D, 40, "word"),
    Prefix("perplexity-key", "pplx-", _B, 30),
    Prefix("groq-key", "gsk_", _B, 30),
    Prefix("xai-key", "xai-", _B, 40, "word"),
    Prefix("replicate-token", "r8_", _B, 30, "word"),
    Prefix("tavily-key", "tvly-", _W, 24),
    Prefix("langsmith-key", "lsv2_pt_ lsv2_sk_", _S, 30),
    Prefix("elevenlabs-key", "sk_", _H, 40, "word"),
    Prefix("nvidia-key", "nvapi-", _W, 30),
    Prefix("easypost-key", "EZAK EZTK", _B, 40, "tight"),
    Prefix("shippo-token", "shippo_live_ shippo_test_", _H, 32),
    Prefix("square-token", "sq0atp- sq0csp-", _W, 20),
    Prefix("meta-token", "EAA", _W, 50, "tight"),
    Prefix("flutterwave-key", "FLWSECK- FLWSECK_TEST- FLWPUBK_TEST-", _W, 12),
    Prefix("plaid-token", "access-sandbox- access-development- access-production-", "0-9a-f-", 36),
    Prefix("duffel-token", "duffel_live_ duffel_test_", _W, 30),
    Prefix("frameio-token", "fio-u-", _W, 40),
    Prefix("adobe-secret", "p8e-", _B, 32, "word"),
    Prefix("adafruit-key", "aio_", _B, 28, "word"),
    Prefix("alibaba-key", "LTAI", _B, 16, "tight"),
    Prefix("tencent-key", "AKID", _B, 32, "tight"),
    Prefix("yandex-key", "AQVN", _W, 34, "tight"),
    Prefix("contentful-token", "CFPAT-", _W, 40),
    Prefix("defined-token", "dnkey-", _W, 40),
    Prefix("hubspot-token", "pat-na1- pat-na2- pat-eu1-", "0-9a-f-", 36),
    Prefix("infracost-key", "ico-", _B, 32, "tight"),
    Prefix("octopus-key", "API-", "A-Z0-9", 25, "tight"),
    Prefix("intra42-secret", "s-s4t2ud- s-s4t2af-", _H, 60),
    Prefix("lob-key", "live_ test_", "0-9a-f", 35, "tight"),
    Prefix("mapbox-token", "sk.eyJ", _D, 40, "tight"),
    Prefix("netlify-token", "nfp_", _B, 30, "word"),
    Prefix("render-key", "rnd_", _B, 28, "tight"),
    Prefix("vercel-token", "vcp_ vck_ vci_ vca_ vercel_blob_rw_", _S, 24, "word"),
    Prefix("heroku-key", "HRKU-", _W, 30),
    Prefix("prefect-key", "pnu_ pnb_", _B, 34, "word"),
    Prefix("openshift-token", "sha256~", _W, 40),
    Prefix("scalingo-token", "tk-us-", _W, 40, "word"),
    Prefix("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", _B, 16),
    Prefix("sonar-token", "squ_ sqp_ sqa_", _B, 36, "word"),
    Prefix("sourcegraph-token", "sgp_", _S, 36, "word"),
    Prefix("tailscale-key", "tskey-", _W, 20),
    Prefix("figma-token", "figd_ figu_ figo_", _W, 30),
    Prefix("trello-token", "ATTA", _H, 60, "tight"),
    Prefix("circleci-token", "CCIPAT_ CCIPRJ_", _S, 40),
    Prefix("buildkite-token", "bkua_", _H, 40, "word"),
    Prefix("mongodb-secret", "mdb_sa_sk_", _W, 30),
    Prefix("dropbox-token", "sl.", _W, 100, "tight"),
)

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# Between the lines of a key: real or escaped breaks, quotes, concatenation, quotation and comment marks.
# Possessive, here and below: giving back what was read would cost exponential time and find nothing more.
_FOLD = r"(?:\\[nrt]|[\s\"'`+>#|,\\]){0,40}+"


def _shape(
    rule: str,
    hints: str,
    pattern: str,
    judge: Callable[[re.Match[str]], bool],
    *,
    joins: bool = True,
    near: str = "",
) -> Shape:
    return Shape(f"secret:{rule}", tuple(hints.split()), pattern, judge, joins, near=near)


def _long(rule: str, hints: str, pattern: str, judge: Callable[[re.Match[str]], bool]) -> Shape:
    return Shape(f"secret:{rule}", tuple(hints.split()), pattern, judge, is_long=True)


ODD_SHAPES: Final = (
    _long(
        "aws-key-id",
        "AKIA ASIA ABIA ACCA A3T",
        r"(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])(?P<body>[A-Z0-9]{16,})",
        _token,
    ),
    _long("slack-token", "xox xapp-", r"(?:xox[a-z]|xapp)-(?P<body>[A-Za-z0-9-]{20,})", _slack),
    _long(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<body>[A-Za-z0-9/]{20,})",
        _token,
    ),
    _long("discord-webhook", "/api/webhooks/", r"/api/webhooks/[0-9]{10,24}/(?P<body>[\w-]{20,})", _token),
    _long("teams-webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/(?P<body>[\w@/-]{40,})", _token),
    _long("discord-token", ".", r"(?a:[MNO](?<![\w.-].)[\w-]{23,27}\.[\w-]{6}\.(?P<body>[\w-]{27,}))", _anything),
    _shape("telegram-token", ":AA", r"(?a:(?<![0-9A-Za-z])[0-9]{8,10}:AA(?P<body>[\w-]{32,}))", _token),
    _long("huggingface-token", "hf_", r"(?<![A-Za-z0-9])hf_(?P<body>[A-Za-z0-9]{30,}+)(?!_)", _token),
    _long("sendgrid-key", "SG.", r"(?a:(?<![\w.-])SG\.[\w-]{16,64}\.(?P<body>[\w-]{16,}))", _token),
    _long("mailchimp-key", "-us", r"(?<![0-9A-Za-z])(?P<body>[0-9a-f]{32})-us[0-9]{1,2}(?![0-9])", _token),
    _long("azure-client-secret", "Q~", r"(?a:(?<![\w.~-])[\w.~-]{3}[0-9]Q~(?P<body>[\w.~-]{31,}))", _token),
    _long(
        "terraform-token", ".atlasv1.", r"(?a:(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.(?P<body>[\w-]{40,}))", _token
    ),
    _long("1password-key", "A3-", r"(?<![\w-])A3-[A-Z0-9]{6}-(?P<body>[A-Z0-9]{5,11}(?:-[A-Z0-9]{5,6}){3,5})", _token),
    _long("vault-token", "s.", r"(?a:(?<![\w.-])s\.(?P<body>[A-Za-z0-9]{24})(?![\w.]))", _mixed),
    _long("airtable-token", "pat", r"(?a:(?<!\w)pat[A-Za-z0-9]{14}\.(?P<body>[0-9a-f]{64}))", _token),
    _long(
        "harness-token",
        "pat. sat.",
        r"(?a:(?<![\w.])[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.(?P<body>[A-Za-z0-9]{20}))",
        _token,
    ),
    _shape("asana-token", "/", r"[0-9](?<![0-9/].)/[0-9]{10,20}:(?P<body>[0-9a-f]{32})", _token),
    _long("maxmind-key", "_mmk", r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_(?P<body>[A-Za-z0-9]{29})_mmk", _token),
    _long("launchdarkly-key", "sdk- api- mob-", rf"(?<![\w-])(?:sdk|api|mob)-(?P<body>{_UUID})", _token),
    _long("meta-app-token", "|", r"(?<![0-9])[0-9]{13,17}\|(?P<body>(?a:[\w-]{20,}))", _token),
    _shape("firebase-server-key", ":APA91b", r"(?a:(?<![\w-])AAAA[\w-]{7}:APA91b(?P<body>[\w-]{60,}))", _token),
    # JFrog's tokens are too short for a mask to be told from a token.
    _shape("artifactory-token", "AKC AP", r"(?<![A-Za-z0-9])(?:AKC|AP[0-9])[A-Za-z0-9]{10,}", _anything),
    _long("jwt", "eyJ", r"(?a:(?<![\w.-])eyJ[\w=-]{10,}\.eyJ(?P<body>[\w=-]{10,}(?:\.[\w=-]*)*))", _token),
    # A key's header alone is something people write about; with key material behind it, it is a key.
    _shape(
        "private-key",
        "PRIVATE",
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        rf"(?:{_FOLD}[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{0,100}}+){{0,4}}+"
        rf"{_FOLD}[A-Za-z0-9+/=]{{16,}}+(?:(?!{_FOLD}-----){_FOLD}[A-Za-z0-9+/=]{{20,}}+)*+"
        rf"(?:{_FOLD}[A-Za-z0-9+/=]{{0,99}}+{_FOLD}-----END [A-Z0-9 ]{{0,40}}-----)?",
        _anything,
    ),
    _shape(
        "putty-key",
        "Private-Lines:",
        r"Private-Lines:\s{0,4}[0-9]{1,4}\s{1,20}[A-Za-z0-9+/=]{20,}(?:\s{1,20}[A-Za-z0-9+/=]{20,})*",
        _anything,
    ),
    _shape(
        "url-password",
        "://",
        r"://(?P<user>[^\s/:@\"'<>`,]{0,128}):(?P<value>[^\s/\"'<>`,]{1,256})@(?=[\w\[])",
        _url_password,
        joins=False,
    ),
    _shape(
        "aws-secret-key",
        "aws",
        r"(?i)aws[\w .-]{0,24}(?:secret|sk)[\w .-]{0,24}[\"']?\s{0,3}[:=>]{1,3}\s{0,3}[\"']?"
        r"(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        _real_random,
        joins=False,
    ),
    _shape(
        "authorization",
        "authorization bearer",
        r"(?i)(?:authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:basic|bearer|token|apikey|api-key|digest)\s{1,3})?"
        r"|\bbearer\s{1,3})(?P<value>[^\s\"'`<>,;(){}\[\]]{8,512})",
        _real_random,
        joins=False,
    ),
    _shape(
        "curl-password",
        "curl",
        r"(?i)\s(?:-u|--user)[ =]{0,2}[\"']?(?P<user>[^\s:\"'`]{1,128}):[\"']?(?P<value>[^\s\"'`]{3,256})",
        _real_password,
        joins=False,
    ),
    _shape(
        "netrc-password",
        "password",
        r"(?i)\blogin\s{1,4}\S{1,128}\s{1,4}password\s{1,4}(?P<value>\S{4,256})",
        _real_password,
        joins=False,
    ),
    _shape(
        "bundler-password",
        "BUNDLE_",
        r"BUNDLE_[A-Z_]{2,60}\s{0,3}[:=]\s{0,3}[\"']?(?P<value>\w{4,64}:\w{4,64})",
        _anything,
        joins=False,
    ),
    # `--password value` on a command line, then `name = value` with its kin (`:`, `:=`, `=>`, XML, arguments).
    _shape(
        "option-password",
        "--pass --token --secret --api",
        r"(?i)--(?:[a-z]{1,12}-)?(?:password|passphrase|token|secret|api-key)[ =]{1,2}[\"']?"
        r"(?P<value>[^\s\"'`;|]{6,256})",
        _real_password,
        joins=False,
    ),
    _shape(
        "assigned",
        "pass pw secret token key credential sonar 密码 口令 密钥 令牌",
        r"(?i)(?P<name>pass(?:word|wort|wd|phrase|code)|pwd|(?<![a-z])pw|pass|密码|口令|密钥|令牌|secret|token|api[_.-]?key|(?:access|account|client|encrypt(?:ion)?"
        r"|sign(?:ing)?|private|master|shared|service|webhook|license|auth|admin|subscription)[_.-]?key|credentials?"
        r"|sonar[_.]login|key)"
        r"(?:[_.-]?(?:access[_.-]?)?key)?(?:[_-](?:base|value|prod|dev|test|staging|default))?[0-9]{0,2}"
        r"\\?[\"'`\]*]{0,3}(?:\s?:\s?\w{1,12})?\s{0,4}"
        r"(?:[:?|!]{0,3}=[=>]?|[:：>(]|->|→|\|{1,2}|[\"']\s?,|\bis\s|是|为)[*_]{0,2}\s{0,4}"
        r"(?:\\?(?P<quote>[\"'`]))?(?P<value>(?(quote)[^\"'`\n]{1,512}|(?:[^\s\"'`<>,;(){}\[\]|&]|&(?!\w+=)){1,512}))",
        _assigned,
        joins=False,
        near=r"(?:pass|pw|secret|token|key|credential|sonar|密码|口令|密钥|令牌)[\w.-]{0,40}\\?[\"'`\]*]{0,3}\s{0,4}"
        r"(?:[:：=?|!>(→是为]|->|is\s|[\"']\s?,)",
    ),
)

SHAPES: Final = (*(prefix.shape() for prefix in PREFIXES), *ODD_SHAPES)

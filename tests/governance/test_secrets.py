"""Known shapes of secrets. No sample stands here in one piece, so that no scanner takes this file for a leak."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invincat.governance.secrets import Finding, scan
from invincat.governance.shapes import LONG, PREFIXES, SHAPES, Prefix

BODY = "a1B2c3D4e5F6g7H8j9K0"
HEX = "0a1b2c3d4e5f6789"
GITHUB = "gh" + "p_" + "a1B2" * 9
DASHES = "-" * 5
UUID = "3f2a9c4d-11ec-4d64-9b2a-0242ac120002"


def pem(label: str = "RSA PRIVATE KEY", fold: str = "\n") -> str:
    lines = ["MIIE" + "k9X/q2+Z" * 7 + "aB3d"] * 3 + ["Zm9v" * 4 + "=="]
    return fold.join([f"{DASHES}BEGIN {label}{DASHES}", *lines, f"{DASHES}END {label}{DASHES}"])


# rule: (texts with a secret, texts that only come near)
SAMPLES: dict[str, tuple[list[str], list[str]]] = {
    "aws-key-id": (
        ["AK" + "IA" + "Q7ZP" * 4, "xx" + "AS" + "IA" + "ZZZZ" * 4, "A3" + "T0" + "ZZZZ" * 4],
        ["AK" + "IA" + "Q7ZP", "AK" + "IA" + "IOSFODNN7" + "EXAMPLE", "AK" + "IA" + "X" * 16],
    ),
    "slack-token": (
        ["xo" + "xb-" + "123456789012-" * 2 + BODY, "xa" + "pp-1-" + "A012-" + "34567890-" + HEX * 2],
        ["xo" + "xb-" + "your-token-goes-here-please", "xo" + "xb-..."],
    ),
    "slack-webhook": (
        ["https://hooks.slack" + ".com/services/" + "T0123ABCD/B0123ABCD/" + BODY],
        ["https://hooks.slack" + ".com/services/T0/B0", "https://hooks.slack" + ".com/services/" + "X" * 24],
    ),
    "discord-webhook": (
        ["https://discord.com/api/web" + "hooks/" + "1" * 18 + "/" + BODY * 3],
        ["https://discord.com/api/webhooks/<id>/<token>"],
    ),
    "teams-webhook": (
        ["https://x.webhook.office" + ".com/webhookb2/" + HEX * 2 + "@" + HEX * 2 + "/IncomingWebhook"],
        ["https://x.webhook.office.com/webhookb2/<id>"],
    ),
    "discord-token": (
        ["M" + "TA4NzY1NDMyMTA5ODc2NTQzMg" + "." + "Gx1y2Z" + "." + BODY + "abcdefgh"],
        ["Module.submod.function_name_that_is_long_enough", "M" + "TA4NzY1NDMyMTA5ODc2NTQzMg.Gx1y2Z"],
    ),
    "telegram-token": (["123456789" + ":AA" + BODY + "abcdefghijklm"], ["123456789:AA", "12:AAbbcc"]),
    "huggingface-token": (["h" + "f_" + "aBcDeFgHiJ" * 3 + "kLmN"], ["hf_hub_download", "hf_" + "a" * 40 + "_prio"]),
    "sendgrid-key": (["S" + "G." + BODY + "xy." + BODY + BODY], ["SG.example.com", "MSG." + BODY + "." + BODY]),
    "mailchimp-key": ([HEX * 2 + "-us" + "12"], [HEX * 2, HEX * 2 + "-usage"]),
    "azure-client-secret": (["ab1" + "8Q" + "~" + BODY + "abcdefghijk"], ["Q~short", "ab18Q~" + "x" * 34]),
    "terraform-token": (
        ["a1B2c3D4e5F6g7" + ".atlas" + "v1." + BODY * 3],
        ["x" * 14 + ".atlasv1." + "x" * 60, "see .atlasv1. tokens"],
    ),
    "1password-key": (["A" + "3-" + "ABC123-" + "DEF456-" * 4 + "GHJ78"], ["A3-PAPER", "A3-ABC123-size"]),
    "vault-token": (["s" + "." + "a1B2c3D4e5F6g7H8j9K0LmNp"], ["s.AcceptanceTimeoutSeconds", "s." + "a" * 24]),
    "airtable-token": (["pa" + "t" + "a1B2c3D4e5F6g7" + "." + HEX * 4], ["patch.example", "pat" + "a" * 14 + ".abc"]),
    "harness-token": (["pa" + "t." + BODY + "xy" + "." + HEX + HEX[:8] + "." + BODY], ["pat.name.value"]),
    "asana-token": (["1/" + "1" * 16 + ":" + HEX * 2], ["1/1234567890123456", "2024/01/01:12"]),
    "maxmind-key": (["a1B2c3_" + BODY + "abcdefghi" + "_m" + "mk"], ["some_mmk", "abc_def_mmk"]),
    "launchdarkly-key": (["sd" + "k-" + UUID], ["sdk-1.2.3", UUID]),
    "meta-app-token": (["9" * 15 + "|" + BODY + "ab"], ["| 1234567890123 | a column of a table |"]),
    "firebase-server-key": (["AA" + "AA" + "a1B2c3D" + ":APA" + "91b" + BODY * 4], ["AAAA:APA91b"]),
    "artifactory-token": (
        ["AK" + "C" + "p8" + BODY, "A" + "P6" + BODY],
        ["APFoundation", "AKCENT", "APIClientLibrary"],
    ),
    "jwt": (
        ["ey" + "J" + "hbGciOiJIUzI1NiJ9" + ".ey" + "J" + "zdWIiOiIxMjM0NTY3" + "." + BODY],
        ["eyJhbGciOiJIUzI1NiJ9"],
    ),
    "private-key": (
        [
            *(pem(fold=fold) for fold in ("\n", "\\n", "\\\\n", " ", "", "\r\n", "\n> ", "\n    ", '\\n"\n  + "')),
            pem("OPENSSH PRIVATE KEY"),
            pem("EC PRIVATE KEY"),
            pem("PGP PRIVATE KEY BLOCK").replace("KEY BLOCK-----\n", "KEY BLOCK-----\nVersion: GnuPG v2\n\n", 1),
            pem().replace(
                "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: DES-EDE3-CBC,0123456789ABCDEF\n\n", 1
            ),
            pem().partition(DASHES + "END")[0],
        ],
        [
            f"Never commit a file that has `{DASHES}BEGIN RSA PRIVATE KEY{DASHES}` in it",
            f"{DASHES}BEGIN PRIVATE KEY{DASHES}\n...\n{DASHES}END PRIVATE KEY{DASHES}",
            pem("CERTIFICATE"),
            pem("PUBLIC KEY"),
        ],
    ),
    "putty-key": (["Private-" + "Lines: 2\n" + "AAAAgQ" * 10 + "\n" + "AAAAgQ" * 5], ["Private-Lines: are counted"]),
    "url-password": (
        [
            "postgres://app:" + "s3cur3Pw@db.local:5432/app",
            "redis://:" + "fo0barbaz@cache:6379",
            "https://oauth2:" + "deadbeef@gitlab.com/x.git",
            "http://me:" + "p@ss-w0rd@host/",
        ],
        [
            "https://git@github.com/a/b",
            "ssh://git@host:22/a",
            "postgres://user:password@localhost/db",
            "postgres://app:app@localhost/db",
            "https://x:${TOKEN}@host",
            "https://<user>:<password>@host",
            "https://user:xxxx@host",
            "http://localhost:8080 and me@host",
            "mysql://root:REPLACE_WITH_PASSWORD@db",
        ],
    ),
    "aws-secret-key": (
        ["aws_secret_access" + "_key = " + "aB3/x9+Zk1Lm0Pq7Rs5T" * 2],
        ["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY", "aws_secret_access_key = <yours>"],
    ),
    "authorization": (
        ["Authorization: " + "Bearer " + BODY, "-H 'Authorization: Basic " + "dXNlcjpwYXNzd29yZDEyMw=='"],
        ["Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "Authorization: required for all routes"],
    ),
    "curl-password": (
        ["curl -u elastic:" + "P@ssw0rd1 https://localhost:9200", "curl --user 'api:" + "d2LkV78zLx!t' https://x"],
        ["curl -u user:pass https://x", 'curl -u "$USER:$PASS" https://x', "curl -u username:token https://x"],
    ),
    "netrc-password": (["machine a login me password " + "hunter22"], ["login as admin password required"]),
    "bundler-password": (["BUNDLE_GEMS__EXAMPLE" + "__COM=" + "cafebabe:deadbeef"], ["BUNDLE_PATH=vendor/bundle"]),
    "option-password": (
        ["docker login --pass" + "word S3cur3pw99", "tool --token=" + BODY],
        ["docker login --password-stdin", "tool --token $TOKEN", "tool --token <token>"],
    ),
    "assigned": (
        [
            "pass" + 'word = "hunter2"',
            "DB_PASS" + "WORD=Tr0ub4dor&3",
            "api" + "_key: " + BODY,
            "client" + f"_secret: {UUID}",
            "SNYK" + "_TOKEN := " + UUID,
            '"access' + f'Token": "{BODY}"',
            "<pass" + "word>S3cur3!pw</password>",
            "secret_key" + "_base: " + HEX * 2,
            "密码" + "：hunter22",
            "**To" + f"ken:** {BODY}",
            "| api" + f"_key | {BODY} |",
            "set" + f'Secret("{BODY}")',
            "The staging pass" + "word is hunter22",
            "//registry.npmjs.org/:_auth" + f"Token={UUID}",
            "pass" + 'word: str = "hunter22"',
            "SIGNING" + f"_KEY={BODY}{BODY}",
            "api" + '_key = "a1B2c3D4" + "e5F6g7H8j9K0"',
        ],
        [
            'password = "changeme"',
            "password = os.environ['DB_PASSWORD']",
            "password: ${DB_PASSWORD}",
            "API_KEY=your_api_key_here",
            'api_key = "<your key>"',
            "api_key = settings.api_key",
            "token = get_token(request)",
            'token="xxxxxxxxxxxxxxxx"',
            "max_tokens: 4096",
            "token: cl100k_base",
            "password: argon2id hashes only",
            "password: 8+ characters",
            "passwords are hashed with pbkdf2:sha256:600000",
            "secret: projects/123/secrets/db-password/versions/1",
            "tokens: int = 0",
            f'publicToken = "{BODY}"',
            f"cache_key: linux-{HEX}{HEX}",
            "primary key: user_id2",
            "credentials: 'same-origin'",
            "val password: String",
        ],
    ),
}

ORDINARY = [
    f"fixed in commit {HEX}{HEX}01234567",
    "reverted by 3f2a9c4",
    f"request id {UUID}",
    f"image@sha256:{HEX * 4}",
    "memory 01JDXQ6T3M9V0K8Y2W5R7N4B1C replaced it",
    "the fixture holds aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQ= as base64",
    '"integrity": "sha512-' + "a1B2c3D4+/" * 8 + 'w=="',
    "see src/governance/secrets.py:41 and ~/notes/tokens.md",
    "risk-averse task-runners and sk-learn-compatible-estimators-for-everyone",
    "pypi-simple and pypi-attestations are packages",
    "pick the highest-scoring one; ghp_ is GitHub's prefix, sk-ant-... is Anthropic's",
    'export ANTHROPIC_API_KEY="sk-ant-..."',
    "Never put secrets, tokens or passwords into a memory: use the keychain",
    "The API key lives in 1Password under infra/api-key-prod",
    "版本号与密钥轮换周期见文档",
    "the key = value lines are sorted",
    "0x1234abcd, 10.0.0.1:8080, 2026-11-29T10:00:00Z, v1.2.3-rc.4+build.5",
]


def rules(text: str) -> set[str]:
    return {finding.rule for finding in scan(text)}


def sample(prefix: Prefix, length: int) -> str:
    """A body of varied characters that the row's class allows."""
    allowed = re.compile(rf"(?a:[{prefix.body}])")
    letters = [char for char in "a7B2c9D4e1F6A5b3C8d0" if allowed.match(char)]
    return "".join(letters[at % len(letters)] for at in range(length))


@pytest.mark.parametrize("rule", SAMPLES)
def test_an_odd_shape_is_found_in_each_of_its_forms(rule):
    for text in SAMPLES[rule][0]:
        assert rules(f"Remember\n{text}\nplease") == {f"secret:{rule}"}, text


@pytest.mark.parametrize("rule", SAMPLES)
def test_what_only_comes_near_a_shape_is_not_found(rule):
    for text in SAMPLES[rule][1]:
        assert scan(f"Remember {text} please") == [], text


def test_every_shape_of_the_table_has_samples():
    covered = {f"secret:{rule}" for rule in SAMPLES} | {prefix.shape().rule for prefix in PREFIXES}
    assert {shape.rule for shape in SHAPES} == covered
    assert all("secret" in shape.rule for shape in SHAPES)


@pytest.mark.parametrize("row", PREFIXES, ids=lambda row: row.prefixes.split()[0])
def test_a_vendor_token_is_found_and_a_shorter_one_is_not(row):
    for start in row.prefixes.split():
        token = start + sample(row, row.least)
        assert [(f.start, f.end) for f in scan(f"x {token} y") if f.rule == f"secret:{row.rule}"] == [
            (2, 2 + len(token))
        ]
        assert not row.shape().pattern.search(f"x {start}{sample(row, row.least - 5)} y")


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_conventions_are_not_secrets(text):
    assert scan(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "gh" + "p_" + "a" * 36,
        "gl" + "pat-" + "1" * 20,
        "sk" + "-ant-" + "0" * 40,
        "ts" + "key-api-" + "A" * 12 + "-" + "B" * 24,
    ],
)
def test_a_vendors_prefix_is_enough_whatever_the_entropy(text):
    assert scan(text)


@pytest.mark.parametrize(
    "disguise",
    [
        "xxxxxxxx{0}{1}xxxxxxxx",
        "    {0}{1}    ",
        "____{0}{1}====",
        "{0}\n{1}",
        "{0}\r\n{1}",
        "{0}\n    {1}",
        "{0}\n> {1}",
        "{0}\\\n{1}",
        "{0}\\\n    {1}",
        '"{0}" + "{1}"',
        "'{0}' '{1}'",
        '"{0}"\n    "{1}"',
        '"{0}" +\n    "{1}"',
        "'{0}' . '{1}'",
        "{0}\u200b{1}",
        "{0}\u00ad\u2060{1}",
        "{0}\ufe0f{1}",
        "{0}\U000e0041{1}",
    ],
)
@pytest.mark.parametrize("cut", [2, 4, 12, 30])
def test_a_disguised_token_is_found_in_its_line(disguise, cut):
    text = "first line\n" + disguise.format(GITHUB[:cut], GITHUB[cut:]) + "\nlast line"
    (finding,) = scan(text)
    assert (finding.rule, finding.line) == ("secret:github-token", 2)
    assert GITHUB[:cut][-2:] not in text[: finding.start]
    assert GITHUB[-8:] not in text[finding.end :]


def test_full_width_look_alikes_are_read_as_what_they_look_like():
    wide = "".join(chr(ord(char) + 0xFEE0) for char in GITHUB)
    (finding,) = scan(f"密钥：\n{wide}")
    assert finding == Finding("secret:github-token", 2, 4, 4 + len(GITHUB))


def test_a_finding_names_rule_and_place_and_never_the_value():
    text = f"one\ntwo {GITHUB}\n" + "pass" + "word: hunter22"
    found = scan(text)
    assert [(finding.rule, finding.line) for finding in found] == [("secret:github-token", 2), ("secret:assigned", 3)]
    assert text[found[0].start : found[0].end] == GITHUB
    assert text[found[1].start : found[1].end] == "hunter22"
    assert GITHUB not in repr(found)
    assert "hunter22" not in repr(found)


def test_the_word_after_a_token_at_the_end_of_a_line_is_not_part_of_it():
    (finding,) = scan(f"{GITHUB}\nThen go on")
    assert finding.end == len(GITHUB)


@given(st.text())
def test_scan_never_raises_and_places_findings_in_the_text(text):
    at = 0
    for finding in scan(text):
        assert at <= finding.start < finding.end <= len(text)
        assert finding.line == text.count("\n", 0, finding.start) + 1
        at = finding.end


PARTS = [
    "a",
    "A1",
    " ",
    "\n",
    '"',
    "'",
    "+",
    "=",
    ":",
    "://",
    "@",
    "\\",
    "\u200b",
    "ａ",
    "ghp_",
    "sk-",
    "token",
    "key",
    "eyJ",
]
PARTS += [GITHUB, pem(), "password: ", "hunter22", "-----BEGIN ", "/home/ada/x"]


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_scan_finds_the_token_in_any_company_of_lines(noise):
    text = f"{noise}\n\n{GITHUB}\n\n{noise}"
    at = len(noise) + 2
    assert any(finding.start <= at and at + len(GITHUB) <= finding.end for finding in scan(text))


UNITS = [
    *[
        "a",
        "A",
        "0",
        " ",
        "\n",
        "=",
        "a=",
        ": ",
        "'",
        "a@",
        "sk-",
        "ghp_",
        "ghp_x",
        "eyJ",
        "-eyJ",
        "eyJ.eyJ",
        "SG.",
        "Q~",
    ],
    *["-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAa-aa: ", "://", "://a:", "://a:b"],
    *["token=", "password='", "--token ", "curl -u a:", "bearer ", "login a password ", "aws secret ", "BUNDLE_", "1/"],
    *["a'+'", "a\\\n", "a\n", "\u200b", "ａ", "ﬀ", "İ", "M" * 24 + ".", "SG." + "a" * 20 + ".", "0" * 9 + ":AA"],
    *["xoxb-1-", "Private-Lines: 1\n", "A3-AAAAAA-AAAAA", "hf_a_", "aaaaaa_", "A" * 14 + ".atlasv1."],
]


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear_on_200_kb_of_adversity(unit):
    for text in (unit * (200_000 // len(unit)), "curl key token PRIVATE :// eyJ " + unit * (200_000 // len(unit))):
        begin = time.process_time()
        scan(text)
        assert time.process_time() - begin < 1


def test_what_is_looked_for_in_long_words_only_is_one() -> None:
    """`Shape.is_long`: a shorter token, or one with a colon, would be overlooked."""
    for prefix in PREFIXES:
        assert prefix.shape().is_long
        assert all(len(start) + prefix.least >= LONG and ":" not in start for start in prefix.prefixes.split())
        assert ":" not in prefix.body
    for shape in SHAPES:
        bad = SAMPLES.get(shape.rule.removeprefix("secret:"), ([], []))[0] if shape.is_long else []
        for text in bad:
            [found] = [one for one in scan(text) if one.rule == shape.rule]
            token = text[found.start : found.end]
            assert len(token) >= LONG and not set(token) & set(": \t\n"), token

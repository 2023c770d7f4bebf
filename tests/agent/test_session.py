"""Conversations on disk: append-only, one holder, readable after every way to die (cases 37 and 38)."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from invincat.agent.session import NoSession, SessionBusy, Sessions
from invincat.app import new_id, utc_now
from invincat.context.transcript import Cursor, cursor_at, first_new
from invincat.errors import ConfigurationError
from invincat.llm.history import INTERRUPTED
from invincat.llm.message import Assistant, ToolCall, ToolResult, User
from invincat.llm.scripted import Say, ScriptedClient
from invincat.store.needle import Needle
from invincat.store.scrub import scrub
from tests.agent.talking import Probe, conversation, ended, play

CALL = ToolCall("call_1", "probe", '{"n":1}')


def _file(tmp_path: Path) -> Path:
    [path] = (tmp_path / "sessions").glob("*.jsonl")
    return path


def test_a_session_comes_back_as_it_was(sessions, tmp_path):
    session = sessions.begin(tmp_path, "model")
    messages = [User("你好"), Assistant("x", (CALL,), "why"), ToolResult("call_1", "no", is_error=True)]
    for message in messages:
        session.append(message)
    session.close()
    assert sessions.resume(session.id).messages == messages


def test_it_is_only_ever_appended_to(sessions, tmp_path):
    session = sessions.begin(tmp_path, "model")
    before = _file(tmp_path).read_bytes()
    session.append(User("One"))
    session.close()
    again = sessions.resume(session.id)
    again.append(User("Two"))
    assert _file(tmp_path).read_bytes().startswith(before)
    assert _file(tmp_path).read_bytes().count(b"\n") == 3


def test_nobody_else_can_read_it(sessions, tmp_path):
    session = sessions.begin(tmp_path, "model")
    session.append(User("One"))
    sessions.move_cursor(session.id, Cursor(1, "a"))
    folder = tmp_path / "sessions"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {path.suffix: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == {".jsonl": 0o600, ".lock": 0o600, ".cursor": 0o600}


@pytest.mark.parametrize("torn", [b'{"at":"2026-01-01T00:00:00Z","mess', b"{", b"\x00\x00", b'{"at":"x","message":{}}'])
def test_case_37_a_torn_last_line_is_dropped(sessions, tmp_path, torn):
    session = sessions.begin(tmp_path, "model")
    session.append(User("One"))
    session.close()
    whole = _file(tmp_path).read_bytes()
    _file(tmp_path).write_bytes(whole + torn)
    assert sessions.messages(session.id) == [User("One")]
    again = sessions.resume(session.id)
    assert again.messages == [User("One")]
    again.append(User("Two"))
    assert sessions.messages(session.id) == [User("One"), User("Two")]


def test_a_line_of_another_version_is_left_where_it_is(sessions, tmp_path):
    session = sessions.begin(tmp_path, "model")
    session.append(User("One"))
    session.close()
    with _file(tmp_path).open("ab") as file:
        file.write(b'{"at":"2026-01-01T00:00:00Z","message":{"role":"oracle","text":"?"}}\nnonsense\n')
    again = sessions.resume(session.id)
    again.append(User("Two"))
    assert again.messages == sessions.messages(session.id) == [User("One"), User("Two")]
    assert b"oracle" in _file(tmp_path).read_bytes()


def test_case_37_a_call_without_result_is_answered_as_interrupted_and_not_run_again(sessions, tmp_path):
    session = sessions.begin(tmp_path, "model")
    session.append(User("Go"))
    session.append(Assistant("", (CALL,)))
    session.close()
    client, probe = ScriptedClient([Say("It did not finish.")]), Probe()
    again = sessions.resume(session.id)
    assert ended(play(conversation(client, again, probe), "What came of it?")).text == "It did not finish."
    assert probe.ran == []
    assert client.asked[0].messages[3] == ToolResult("call_1", INTERRUPTED, is_error=True)


def test_case_38_who_holds_it_holds_it_alone(sessions, tmp_path):
    session = sessions.begin(tmp_path, "model")
    session.append(User("One"))
    other = Sessions(tmp_path / "sessions", utc_now, new_id)
    with pytest.raises(SessionBusy) as fault:
        other.resume(session.id)
    assert "\n" not in str(fault.value)
    session.close()
    assert other.resume(session.id).messages == [User("One")]


def test_case_31_a_conversation_that_a_purge_cleaned_goes_on_and_is_not_learned_again(sessions, tmp_path):
    session = sessions.begin(tmp_path, "model")
    session.append(User("Remember: the box is zebra-kx72"))
    sessions.move_cursor(session.id, cursor_at(session.messages, 1))
    session.close()
    scrub(tmp_path, Needle.of_texts(["zebra-kx72"]))
    again = sessions.resume(session.id)
    assert "zebra" not in again.messages[0].text
    again.append(User("And now?"))
    assert first_new(again.messages, sessions.cursor(session.id)) == 1


def test_the_latest_is_of_this_directory_and_has_something_in_it(sessions, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (tmp_path / "link").symlink_to(here)
    assert sessions.latest(here) is None
    first, second = sessions.begin(here, "model"), sessions.begin(here, "model")
    second.append(User("Two"))
    first.append(User("One"))
    sessions.begin(there, "model").append(User("Elsewhere"))
    empty = sessions.begin(here, "model")
    for number, session in enumerate((second, first, empty)):
        os.utime(tmp_path / "sessions" / f"{session.id}.jsonl", (number, number))
    assert sessions.latest(here) == first.id
    assert sessions.latest(tmp_path / "link") == first.id


def test_an_id_may_be_shortened_while_it_is_clear(sessions, tmp_path):
    one, two = sessions.begin(tmp_path, "model"), sessions.begin(tmp_path, "model")
    one.close()
    two.close()
    assert sessions.resume(one.id.lower()).id == one.id
    with pytest.raises(NoSession, match="several"):
        sessions.resume(one.id[:1])
    with pytest.raises(NoSession, match="no session"):
        sessions.resume("0" * 26)


def test_where_nothing_can_be_kept_it_says_so_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="no conversation can be kept there"):
        Sessions(tmp_path / "file" / "sessions", utc_now, new_id).begin(tmp_path, None)


FULL = """
import resource, sys
from pathlib import Path
from invincat.agent.session import Sessions
from invincat.app import new_id, utc_now
from invincat.llm.message import User
session = Sessions(Path(sys.argv[1]), utc_now, new_id).begin(Path(sys.argv[1]), "model")
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
for number in range(40):
    session.append(User(f"message {number} " + "x" * 80))
print(session.saving, len(session.messages), session.id)
"""


def test_case_38_when_the_disk_is_full_talking_goes_on_and_what_was_saved_is_whole(sessions, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "sessions")], check=True, capture_output=True, text=True
    )
    saving, count, id = done.stdout.split()
    assert (saving, count) == ("False", "40")
    kept = sessions.resume(id).messages
    assert 5 < len(kept) < 40
    assert [message.text.split()[1] for message in kept] == [str(number) for number in range(len(kept))]

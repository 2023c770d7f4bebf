"""RULES 7: whose memory it is, and which project is meant."""

import pytest

from invincat.memory.scope import (
    AmbiguousProject,
    NoProject,
    Project,
    Rungs,
    Scope,
    require_slug,
    resolve,
    slug_of,
)

HOME = ("/home/ada", "/")
API, WEB = Project("api", "/src/api"), Project("web", "/src/web")
KNOWN = {"docs": Project("docs"), "payments": Project("payments")}
AT_HOME, AT_TOP = Project("ada", "/home/ada"), Project("root", "/")

# What the rungs say -> the project that is meant, None for the user scope, or the error.
READING = {
    "nothing": (Rungs(), None),
    "an explicit project beats all": (Rungs(API, WEB, [WEB], [WEB]), API),
    "the session beats roots": (Rungs(None, API, [WEB], [WEB]), API),
    "the one root beats ambient": (Rungs(None, None, [API], [WEB]), API),
    "the one ambient project": (Rungs(ambient=[API]), API),
    "a root that is named twice is one": (Rungs(roots=[API, API]), API),
    "two roots": (Rungs(roots=[API, WEB], ambient=[API]), AmbiguousProject),
    "two ambient projects": (Rungs(ambient=[API, WEB]), AmbiguousProject),
    "the session decides between two roots": (Rungs(None, WEB, [API, WEB]), WEB),
    "a slug that is known": (Rungs("docs"), KNOWN["docs"]),
    "a slug that is at hand is that repository": (Rungs("api", ambient=[API]), API),
    "a slug of one of two roots": (Rungs("web", roots=[API, WEB]), WEB),
    "a slug that two at hand have": (Rungs("api", roots=[API, Project("api", "/other/api")]), AmbiguousProject),
    "a new slug": (Rungs("fresh", ambient=[API]), Project("fresh")),
    "a slug beats the session": (Rungs("docs", API), KNOWN["docs"]),
    "the home directory": (Rungs(ambient=[AT_HOME]), None),
    "the home directory, as on a command line": (Rungs(AT_HOME), None),
    "the top of the disk": (Rungs(ambient=[AT_TOP]), None),
    "a path": (Rungs("../api"), NoProject),
    "a folder": (Rungs("a/b"), NoProject),
    "a folder on Windows": (Rungs("a\\b"), NoProject),
    "dots": (Rungs(".."), NoProject),
    "a device": (Rungs("con"), NoProject),
    "empty": (Rungs(""), NoProject),
    "an option": (Rungs("--help"), NoProject),
    "capitals": (Rungs("API"), NoProject),
    "too long": (Rungs("a" * 81), NoProject),
}


@pytest.mark.parametrize("case", READING)
def test_who_reads_goes_down_the_rungs_and_ends_in_what_is_ones_own(case):
    rungs, expected = READING[case]
    if isinstance(expected, type):
        with pytest.raises(expected):
            resolve(rungs, KNOWN, home=HOME)
        return
    resolved = resolve(rungs, KNOWN, home=HOME)
    assert resolved.project == expected
    assert resolved.scope is (Scope.PROJECT if expected else Scope.USER)


@pytest.mark.parametrize("case", READING)
def test_who_writes_gets_the_same_project_or_an_error_and_never_the_user_scope(case):
    rungs, expected = READING[case]
    if expected is None or isinstance(expected, type):
        with pytest.raises(expected or NoProject):
            resolve(rungs, KNOWN, home=HOME, to_write=True)
    else:
        assert resolve(rungs, KNOWN, home=HOME, to_write=True).project == expected


def test_an_ambiguity_names_what_could_be_meant():
    with pytest.raises(AmbiguousProject, match=r"api .*/src/api.* web .*/src/web.*; name one"):
        resolve(Rungs(roots=[API, WEB]), {})


def test_a_new_slug_close_to_a_known_one_is_told():
    assert resolve(Rungs("payment"), KNOWN).hint == "payment is a new project; payments is known"
    assert resolve(Rungs("fresh"), KNOWN).hint is None
    assert resolve(Rungs("docs"), KNOWN).hint is None


@pytest.mark.parametrize("folder", ["My App", "API_v2", ".dotfiles", "日本語", "con", "--x", "", "a" * 200])
def test_any_folder_gives_a_slug(folder):
    assert require_slug(slug_of(folder))

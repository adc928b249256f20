from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from swarmtest.traffic.settings import (
    Kind,
    Stage,
    TrafficSettings,
    problems_of,
)
from swarmtest.traffic.settings_file import mask_settings, read_settings, write_settings

KIND = Kind(name="short", method="POST", path="/work?ms={ms}", milliseconds=(20, 300), rate=34.0)


def settings(**changed: Any) -> TrafficSettings:
    return TrafficSettings(**{"run": "r", "out": "o", "kinds": [KIND], "url": "http://127.0.0.1:80"} | changed)


def test_settings_come_back_from_the_file_as_they_were(tmp_path: Path) -> None:
    written = settings(seed=7, fresh_share=0.25)
    write_settings(written, tmp_path / "traffic.json")
    assert read_settings(tmp_path / "traffic.json") == written


def test_what_may_be_a_password_is_for_the_child_alone_and_goes_when_it_has_gone(tmp_path: Path) -> None:
    secret = settings(kinds=[msgspec.structs.replace(KIND, headers={"Authorization": "Bearer s3cret"})])
    file = tmp_path / "traffic.json"
    write_settings(secret, file)
    assert file.stat().st_mode & 0o077 == 0
    mask_settings(secret, file)
    assert "s3cret" not in file.read_text()
    assert read_settings(file).kinds[0].headers == {"Authorization": "(not kept)"}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"url": None}, "exactly one"),
        ({"targets_file": "t.json"}, "exactly one"),
        ({"url": "https://127.0.0.1"}, "only http"),
        ({"url": "127.0.0.1:8080"}, "only http"),
        ({"fresh_share": 1.5}, "between 0 and 1"),
        ({"timeout_seconds": 0.0}, "above zero"),
        ({"kinds": []}, "no kind"),
        ({"processes": 0}, "expected 1 to 64"),
        ({"url": None, "targets_file": "t.json", "workers": 2}, "can't follow the tasks"),
        ({"kinds": [msgspec.structs.replace(KIND, stages=[Stage(-1.0, 1.0, 1.0)])]}, "neither seconds nor rates"),
        ({"kinds": [msgspec.structs.replace(KIND, stages=[Stage(1.0, 1.0, 0.0)])]}, "holds after them"),
        ({"kinds": [msgspec.structs.replace(KIND, stages=[Stage(1.0, 0.0, 0.0)], repeats=True)]}, "send something"),
        ({"kinds": [KIND, KIND]}, "same name"),
        ({"kinds": [msgspec.structs.replace(KIND, rate=0.0)]}, "kind short: rate"),
        ({"kinds": [msgspec.structs.replace(KIND, milliseconds=(300, 20))]}, "shortest <= longest"),
        ({"kinds": [msgspec.structs.replace(KIND, path="work")]}, "starts with a slash"),
        ({"kinds": [msgspec.structs.replace(KIND, path="/a b")]}, "no spaces"),
        ({"kinds": [msgspec.structs.replace(KIND, headers={"X": "a\r\nY: b"})]}, "no line breaks"),
        ({"kinds": [msgspec.structs.replace(KIND, lanes=0)]}, "at least one user"),
        ({"kinds": [msgspec.structs.replace(KIND, count=0)]}, "at least one request"),
        ({"kinds": [msgspec.structs.replace(KIND, body_bytes=-1)]}, "isn't negative"),
    ],
)
def test_what_can_not_be_sent_is_named_before_anything_is(
    tmp_path: Path, changed: dict[str, Any], problem: str
) -> None:
    assert problem in "; ".join(problems_of(settings(**changed)))
    with pytest.raises(ValueError, match=problem.replace("<=", "<=")):
        write_settings(settings(**changed), tmp_path / "traffic.json")
    assert not (tmp_path / "traffic.json").exists()

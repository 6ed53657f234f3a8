"""The same on real answers: 198 cited reports by two systems, 3 agent reports, 100 short answers."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import NamedTuple

from lseval.domain.answers import CitationDraft, GroupDraft, GroupedAnswer
from lseval.domain.grouping import group_answer
from tests.shared import shared_path

# Deliberately not the code's own patterns: these tests read the raw text in another way.
LISTED = re.compile(r"(?m)^[ \t]*(?:- )?(?:\[\^?(\d+)\]:?|(\d+)\.)[ \t].*?(?:\n[ \t]*)?(https?://\S+)")
PLAIN_MARKER = re.compile(r"\[\^?(\d{1,3})\](?!\]?\(https?:|:)")
CLOSING = set(".,;:!?'\"*_`>]}，。；：！？、）】》」』”’")


class Report(NamedTuple):
    name: str
    text: str
    answer: GroupedAnswer


@cache
def reports() -> list[Report]:
    """The reports with their groups."""
    folder = shared_path("data/drb_reports")
    rows = [
        (f"{file.stem} {row['id']}", row["article"])
        for file in sorted(folder.glob("open_deep_research__*.jsonl"))
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    ]
    return [Report(name, text, group_answer(text)) for name, text in rows]


def all_citations(answer: GroupedAnswer) -> list[CitationDraft]:
    return [cited for group in answer.groups for cited in group.citations] + list(answer.sources)


def listed_urls(text: str) -> dict[str, list[str]]:
    """The number and the addresses of each line of the last list of sources, read in the simplest way."""
    heading = max(text.rfind("\n# "), text.rfind("\n## "), text.rfind("\n### "))
    found: dict[str, list[str]] = {}
    for square, plain, url in LISTED.findall(text[heading:]):
        found.setdefault(square or plain, []).append(url)
    return found


def without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def test_nearly_every_report_has_two_groups_or_more() -> None:
    found = reports()
    assert len(found) == 198
    with_two = sum(len(report.answer.groups) >= 2 for report in found)
    assert with_two >= 0.95 * len(found)


def test_groups_lie_in_the_report_in_order() -> None:
    for report in reports():
        end = 0
        for group in report.answer.groups:
            assert group.text == report.text[group.start : group.end], report.name
            assert group.start >= end, report.name
            assert group.title, report.name
            end = group.end


def test_no_group_is_a_list_of_sources() -> None:
    for report in reports():
        for group in report.answer.groups:
            listed = [line for line in group.text.splitlines() if re.match(r"\[\d+\].*https?://", line)]
            assert len(listed) < 2, (report.name, group.title)


def test_every_marker_in_a_group_resolves_to_its_line_or_dangles() -> None:
    checked = dangling = 0
    for report in reports():
        lines = listed_urls(report.text)
        for group in report.answer.groups:
            cited = {url for c in group.citations if (url := c.url)}
            for number in PLAIN_MARKER.findall(without_code(group.text)):
                checked += 1
                if number in lines:
                    is_cited = all(any(line.startswith(url) for url in cited) for line in lines[number])
                    assert is_cited, (report.name, group.title, number)
                else:
                    dangling += 1
                    assert {f"[{number}]", f"[^{number}]"} & set(report.answer.dangling), (report.name, number)
    assert checked > 9000
    assert dangling < 0.01 * checked


def test_no_address_loses_a_bracket_or_keeps_a_mark() -> None:
    total = 0
    for report in reports():
        for url in {cited.url for cited in all_citations(report.answer) if cited.url}:
            total += 1
            where = (report.name, url)
            assert all(url.count(left) == url.count(right) for left, right in ("()", "[]", "{}")), where
            assert url[-1] not in CLOSING - {"_"}, where
            assert not re.search(r"[\s<>\"|\\]|\*\*|[\u2e80-\u9fff\uff00-\uffef]", url), where
            # Somewhere in the report this very address ends: what follows cannot be more of it.
            ends = [m.end() for m in re.finditer(re.escape(url), report.text)]
            assert any(
                not re.match(r"[\w/%&=#~+-]", report.text[end : end + 1]) or end == len(report.text) for end in ends
            ), where
    assert total > 4000


def test_no_address_of_a_report_is_lost() -> None:
    for report in reports():
        kept = {cited.url for cited in all_citations(report.answer)}
        for raw in re.findall(r"https?://[^\s<>\"`\u2e80-\u9fff\uff00-\uffef]+", report.text):
            # The raw run may hold what comes after the address, so an address kept must begin it.
            assert any(raw.startswith(url) for url in kept if url), (report.name, raw)


def test_reports_list_few_sources_that_no_group_cites() -> None:
    in_groups = sum(len({c.url for g in r.answer.groups for c in g.citations if c.url}) for r in reports())
    loose = sum(len(r.answer.sources) for r in reports())
    assert loose < 0.1 * in_groups


def group_titled(report_name: str, title: str) -> GroupDraft:
    (answer,) = [report.answer for report in reports() if report.name == report_name]
    (group,) = [group for group in answer.groups if group.title == title]
    return group


def test_ranked_entities_of_reports_are_their_groups() -> None:
    # Read by eye: the tasks ask for ten research groups, and for ten films with their theme, length and director.
    by_name = {report.name: report.answer for report in reports()}
    teams = [group.title for group in by_name["open_deep_research__claude4-sonnet 15"].groups]
    first, last = teams.index("中国科学技术大学 潘建伟团队（中国）"), teams.index("东芝欧洲剑桥研究实验室（英国）")
    assert last - first + 1 == 10
    film = group_titled("open_deep_research__gpt-4.1 41", "长津湖（2021）")
    assert film.fields["时长"] == "176分钟。"
    assert film.fields["导演"] == "陈凯歌、徐克、林超贤。"
    assert [cited.marker for cited in film.citations] == ["[3]"]
    assert (
        len([group for group in by_name["open_deep_research__gpt-4.1 41"].groups if "主题" in group.fields]) >= 10
    )


def test_countries_and_not_their_repeated_aspects_are_groups() -> None:
    by_name = {report.name: report.answer for report in reports()}
    countries = [group.title for group in by_name["open_deep_research__gpt-4.1 82"].groups][:6]
    assert countries == ["Germany", "Sweden", "Japan", "South Korea", "United States", "Brazil"]


def test_agent_reports_fall_into_their_sections() -> None:
    for file in sorted(shared_path("data/deerflow_threads").glob("*.md")):
        text = file.read_text(encoding="utf-8")
        answer = group_answer(text)
        assert answer.method == "headings", file.name
        assert 10 <= len(answer.groups) <= 40, file.name
        assert not {"Conclusion", "Overview", "Sources"} & {group.title for group in answer.groups}
        assert sum(len(group.text) for group in answer.groups) > 0.6 * len(text)


def test_short_answers_are_one_group_each() -> None:
    lines = shared_path("data/webdancer/sample_traj_100.jsonl").read_text(encoding="utf-8").splitlines()
    answers = []
    for line in lines:
        last = [message["content"] for message in json.loads(line)["messages"] if message["role"] == "assistant"][
            -1
        ]
        answers.append(re.search(r"<answer>(.*?)</answer>", last, re.DOTALL)[1])
    grouped = [group_answer(text) for text in answers]
    assert len(grouped) == 100
    assert sum(len(answer.groups) == 1 for answer in grouped) >= 98
    assert all(answer.groups[0].text == text.strip() for answer, text in zip(grouped, answers, strict=True))

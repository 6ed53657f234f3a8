"""The embedded Stage 1 judge: labels by its stated rule, quotations that are in the page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lseval.domain.evidence import EvidencePage, VerdictDraft
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.measuring import NOT, PARTIALLY, SUPPORTED, Measured, measure
from lseval.judging.embedded.stage1 import verify_group
from tests.shared import shared_path

QUESTION = "Which museums in Denmark show the fishing industry?"
MUSEUM = """Harbour Museum of Esbjerg

The Harbour Museum opened on 12 May 1987 in the old customs house in Esbjerg, Denmark. It holds about 4,200 objects
from the fishing industry. Admission costs 85 kroner for adults. The museum's director is Lene Kirk.
In 2019 it received 61,300 visitors. The building was extended in 2004 by the architects of Nord Studio.
"""
PAGE = EvidencePage("museum", "https://museum.example/", MUSEUM)
WALLED = EvidencePage("walled", "https://walled.example/", "Please log in. Harbour Museum 1987.", outcome="walled")
GONE = EvidencePage("gone", "https://gone.example/", "", outcome="not_found")
BLANK = EvidencePage("blank", "https://blank.example/", " \n")
OTHER = EvidencePage("other", "https://other.example/", "Weather in Jutland is windy in autumn. It often rains.")


def verify(
    title: str,
    text: str,
    *pages: EvidencePage,
    fields: Mapping[str, str] | None = None,
    required_fields: tuple[str, ...] = (),
) -> VerdictDraft:
    rubric = RubricRecord(1, required_fields=required_fields)
    return verify_group(QUESTION, rubric, title, text, fields or {}, pages)


def statuses(verdict: VerdictDraft) -> dict[str, str]:
    return {check.claim: check.status for check in verdict.claims}


def test_group_that_the_page_bears_out_is_correct() -> None:
    verdict = verify(
        "Harbour Museum",
        "1. **Harbour Museum** – opened in May 1987 in Esbjerg, with around 4,200 objects. [1](https://museum.example/)",
        PAGE,
        fields={"Opened": "1987", "City": "Esbjerg"},
    )
    assert verdict.label == "C"
    assert set(statuses(verdict).values()) == {"supported"}


def test_another_year_on_the_same_matter_contradicts() -> None:
    verdict = verify("Harbour Museum", "The Harbour Museum opened in 1992 in Esbjerg.", PAGE)
    assert verdict.label == "I"
    assert statuses(verdict)["The Harbour Museum opened in 1992 in Esbjerg."] == "contradicted"
    assert "12 May 1987" in verdict.reason
    assert "1992" in verdict.reason


def test_another_amount_of_the_same_thing_contradicts() -> None:
    verdict = verify("Harbour Museum", "The Harbour Museum received 81,000 visitors in 2019.", PAGE)
    assert verdict.label == "I"
    assert "61,300" in verdict.reason


def test_contradicted_field_makes_the_group_incorrect() -> None:
    verdict = verify("Harbour Museum", "Harbour Museum", PAGE, fields={"Opened": "1992", "City": "Esbjerg"})
    assert verdict.label == "I"
    assert statuses(verdict) == {
        "Harbour Museum": "supported",
        "Opened: 1992": "contradicted",
        "City: Esbjerg": "supported",
    }


def test_field_that_is_nowhere_on_the_page_makes_the_group_incorrect() -> None:
    verdict = verify("Harbour Museum", "Harbour Museum", PAGE, fields={"Director": "Jens Holm"})
    assert (verdict.label, statuses(verdict)["Director: Jens Holm"]) == ("I", "not_found")


def test_title_that_no_page_mentions_makes_the_group_incorrect() -> None:
    assert verify("Fishing Pavilion", "The Fishing Pavilion opened in 1987 in Esbjerg.", PAGE).label == "I"


def test_invented_sentence_outweighs_the_borne_out_rest() -> None:
    # Weights: "opened in 1987" 1 + 1; "planetarium with 200 seats run by NASA" 1 + 1 + 1. Supported 2 of 5 < 2/3.
    verdict = verify("Harbour Museum", "It opened in 1987. It has a planetarium with 200 seats run by NASA.", PAGE)
    assert verdict.label == "I"


def test_small_unsupported_part_leaves_the_group_correct() -> None:
    # Weights: 1 + 1 date; 1 + 1 number; 1. Supported 4 of 5 >= 2/3, and nothing is contradicted.
    text = "It opened on 12 May 1987. It holds about 4,200 objects. Children like the friendly staff."
    verdict = verify("Harbour Museum", text, PAGE)
    assert verdict.label == "C"
    assert "contradict none" in verdict.reason


def test_required_field_that_the_response_leaves_out_makes_the_group_incorrect() -> None:
    verdict = verify(
        "Harbour Museum", "Harbour Museum in Esbjerg", PAGE, required_fields=("opening year", "location")
    )
    assert verdict.label == "I"
    assert "opening year" in verdict.reason
    assert statuses(verdict)["required field: opening year"] == "not_found"
    supplied = verify(
        "Harbour Museum", "Opened in 1987 in Esbjerg", PAGE, required_fields=("opening year", "location")
    )
    assert supplied.label == "C"


@pytest.mark.parametrize("pages", [(), (GONE,), (WALLED, GONE), (BLANK,)])
def test_no_readable_page_is_unverifiable_never_incorrect(pages: tuple[EvidencePage, ...]) -> None:
    verdict = verify("Harbour Museum", "It opened in 1992.", *pages, required_fields=("price",))
    assert (verdict.label, verdict.claims) == ("U", ())


def test_reason_of_an_unverifiable_group_counts_the_outcomes() -> None:
    assert verify("a", "b", WALLED, GONE).reason == (
        "None of the 2 cited pages could be read: 1 behind a wall, 1 not found."
    )
    assert verify("a", "b").reason == "The group cites no page."


def test_readable_page_beside_unreadable_ones_decides_and_the_reason_says_so() -> None:
    verdict = verify("Harbour Museum", "It opened in 1987.", GONE, PAGE, WALLED)
    assert verdict.label == "C"
    assert verdict.reason.endswith("2 of 3 cited pages could not be read.")
    assert verify("Harbour Museum", "It opened in 1987.", OTHER, GONE).label == "I"


def test_claim_borne_out_by_any_cited_page_is_supported() -> None:
    verdict = verify("Harbour Museum", "It opened in 1987.", OTHER, PAGE)
    assert verdict.label == "C"
    assert {check.quotation.page_key for check in verdict.claims if check.quotation} == {"museum"}


@pytest.mark.parametrize("text", ["", " ", "[1](https://museum.example/)", "\x00\x00", "---"])
def test_group_without_words_is_unjudged_and_not_wrong(text: str) -> None:
    verdict = verify("", text, PAGE)
    assert verdict.label == "unjudged"
    assert verdict.reason


def test_chinese_group_is_read() -> None:
    page = EvidencePage("pku", "u", "北京大学创办于1898年，初名京师大学堂。学校位于北京市海淀区，学生约4.2万人。")
    assert verify("北京大学", "北京大学位于北京市海淀区，有学生4.2万人。", page).label == "C"
    assert verify("北京大学", "北京大学创办于1911年，初名京师大学堂。", page).label == "I"
    assert verify("清华大学", "清华大学位于北京市海淀区。", page).label == "I"


HOSTILE = [
    "\x00",
    "\ud800x 1",
    "[a](",
    "<sup>",
    "1,",
    "【",
    "\n",
    "😀",
    "Aa of ",
    "A: b\n",
    "漢字",
    "x",
    "e\u0301",
    "|---",
]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.timeout(60)
def test_hostile_text_is_read_and_quoted_truly(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    page = EvidencePage("hostile", "u", text)
    verdict = verify(text[:2_000], text, page, PAGE, fields={text[:50]: text}, required_fields=(text[:100],))
    for check in verdict.claims:
        if check.quotation:
            source = text if check.quotation.page_key == "hostile" else MUSEUM
            assert source[check.quotation.start : check.quotation.end] == check.quotation.text != ""


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=80), st.text(max_size=200), st.text(max_size=300))
def test_every_quotation_is_in_its_page(title: str, text: str, page_text: str) -> None:
    verdict = verify(title, text, EvidencePage("p", "u", page_text), PAGE)
    for check in verdict.claims:
        if check.quotation:
            source = {"p": page_text, "museum": MUSEUM}[check.quotation.page_key]
            assert source[check.quotation.start : check.quotation.end] == check.quotation.text


def test_verdict_does_not_depend_on_the_hash_seed() -> None:
    script = (
        "from lseval.domain.evidence import EvidencePage\n"
        "from lseval.domain.trajectory import RubricRecord\n"
        "from lseval.judging.embedded.stage1 import verify_group\n"
        "text = ' '.join(f'Word{n} met thing{n % 7} and place{n % 5} in {1900 + n}.' for n in range(60))\n"
        "page = EvidencePage('p', 'u', text)\n"
        "words = 'Word9 met thing2 and place4. place1 thing5 word6.'\n"
        "print(verify_group('q', RubricRecord(1), 'Word3', words, {}, [page]))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_measured_shares_worked_by_hand() -> None:
    # Of 4 supported 3 found; of 6 others 4 refused: two-way 7/10, balanced (3/4 + 4/6) / 2 = 17/24.
    # Three-way hits 3 + 2 + 1 = 6 of 10. F1: supported 2*3/(4+5), partly 2*2/(4+4), not 2*1/(2+1).
    measured = Measured(
        {
            (SUPPORTED, SUPPORTED): 3,
            (SUPPORTED, PARTIALLY): 1,
            (PARTIALLY, SUPPORTED): 2,
            (PARTIALLY, PARTIALLY): 2,
            (NOT, PARTIALLY): 1,
            (NOT, NOT): 1,
        }
    )
    assert measured.two_way_accuracy == 7 / 10
    assert measured.two_way_balanced_accuracy == pytest.approx(17 / 24)
    assert measured.three_way_accuracy == 6 / 10
    assert measured.macro_f1 == pytest.approx((6 / 9 + 4 / 8 + 2 / 3) / 3)
    # People give 4, 4, 2 of the degrees, the judge 5, 4, 1: chance (20 + 16 + 2) / 100, kappa (0.6 - 0.38) / 0.62.
    assert measured.three_way_kappa == pytest.approx(0.22 / 0.62)


def test_measures_of_nothing_are_undefined() -> None:
    measured = Measured({})
    assert measured.rows == 0
    assert measured.two_way_accuracy is measured.two_way_balanced_accuracy is measured.three_way_accuracy is None
    assert measured.macro_f1 is measured.three_way_kappa is None
    assert Measured({(SUPPORTED, SUPPORTED): 2}).three_way_kappa is None
    assert Measured({(SUPPORTED, SUPPORTED): 2}).two_way_balanced_accuracy is None


def test_agrees_with_people_on_wice_as_often_as_is_stated() -> None:
    """349 claims against whole cited pages. Always saying "not supported" gives 67.0% two-way and 50% balanced."""
    lines = shared_path("data/wice/claim.dev.jsonl").read_text(encoding="utf-8").splitlines()
    measured = measure(json.loads(line) for line in lines)
    assert measured.rows == 349
    assert measured.two_way_accuracy is not None
    assert measured.two_way_balanced_accuracy is not None
    assert measured.three_way_accuracy is not None
    assert measured.macro_f1 is not None
    assert measured.two_way_accuracy >= 0.78
    assert measured.two_way_balanced_accuracy >= 0.77
    assert measured.three_way_accuracy >= 0.69
    assert measured.macro_f1 >= 0.66

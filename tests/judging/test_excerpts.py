"""What a judge is shown of long pages."""

from __future__ import annotations

from lseval.judging.excerpts import excerpts

FILLER = "\n".join(f"Line {number} tells of nothing in particular, and of weather." for number in range(2_000))
LONG = f"Handbook of the Merrow Valley\n{FILLER}\nKelm Dam was completed in 1964 by the Tarn board.\n{FILLER}"


def test_what_fits_is_shown_whole():
    first, second = excerpts(["short", "also short"], ["claim"], 1_000)
    assert (first.text, second.text) == ("short", "also short")
    assert not first.is_cut


def test_the_passage_that_matters_is_found_in_the_middle_of_a_long_page():
    short, long = excerpts(["A short page.", LONG], ["Kelm Dam completed in 1964"], 3_000)
    assert short.text == "A short page."
    assert "Kelm Dam was completed in 1964" in long.text
    assert long.text.startswith("Handbook of the Merrow Valley")
    assert long.is_cut
    assert 2_000 < len(long.text) <= 3_000


def test_several_long_pages_share_the_room():
    shown = excerpts([LONG, LONG.replace("Kelm", "Orsa")], ["Orsa Dam"], 4_000)
    assert all(len(excerpt.text) <= 2_000 for excerpt in shown)
    assert "Orsa Dam was completed" in shown[1].text


def test_a_page_without_the_claims_words_shows_its_beginning():
    assert excerpts([FILLER], ["Zyx"], 500)[0].text.startswith("Line 0")

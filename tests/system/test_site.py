"""The documentation site: navigation, reference and links are complete. `make docs` builds it."""

import re
from pathlib import Path

import pytest

import weigh

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = ("gallery", "generated")  # made by `make docs`
PARTS = [part for part in DOCS.iterdir() if part.name not in GENERATED]  # it may be making them
PAGES = sorted([*DOCS.glob("*.md"), *(page for part in PARTS for page in part.rglob("*.md"))])
OUTSIDE = [ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")]


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def children(page: str) -> list[str]:
    """The pages that the toctrees of a page name."""
    found = []
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```$", read(DOCS / f"{page}.md"), re.M | re.S):
        for line in filter(None, block.splitlines()):
            entry = re.sub(r".*<(.*)>", r"\1", line)
            if "*" in entry:
                found += [
                    str(hit.relative_to(DOCS).with_suffix("")) for hit in DOCS.glob(f"{entry}.md")
                ]
            elif not entry.startswith((":", *GENERATED)):
                found.append(entry)
    return found


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts and the site make them."""
    text = read(page)
    for included in re.findall(r"^```\{include\} (.*)$", text, re.M):
        text += read(page.parent / included)
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in headings}


def test_every_page_is_in_the_navigation_once():
    reached, waiting = [], ["index"]
    while waiting:
        page = waiting.pop()
        reached.append(page)
        waiting += children(page)
    assert sorted(reached) == sorted(str(p.relative_to(DOCS).with_suffix("")) for p in PAGES)


def test_the_reference_lists_every_public_name_once():
    listed = re.findall(r"^   (\w+)$", read(DOCS / "reference.md"), re.M)
    assert sorted(listed) == sorted(weigh.__all__)


@pytest.mark.parametrize("page", [*OUTSIDE, *PAGES], ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)\)", read(page))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", [*OUTSIDE, *PAGES], ids=lambda page: page.name)
def test_every_link_to_a_heading_leads_to_one(page):
    links = re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", read(page))
    assert [
        (target, anchor)
        for target, anchor in links
        if anchor not in anchors(page.parent / target if target else page)
    ] == []


def test_an_estimator_links_to_its_page_where_the_address_of_a_site_is_set(monkeypatch):
    monkeypatch.setenv("WEIGH_DOCS", "https://docs.example/weigh/")
    page = "https://docs.example/weigh/generated/weigh.EducatedNB.html"
    assert f'href="{page}"' in weigh.EducatedNB()._repr_html_()
    monkeypatch.delenv("WEIGH_DOCS")
    html = weigh.EducatedNB()._repr_html_()
    assert "EducatedNB" in html
    assert 'rel="noreferrer"' not in html

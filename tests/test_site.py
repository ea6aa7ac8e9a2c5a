"""The documentation site: it builds without a warning and loads nothing from elsewhere; its tables and links hold."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NEEDED = ("mkdocs", "material", "mkdocstrings_handlers")
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["sting-v0", "stingy-v0"])
def test_tables_are_up_to_date(name):
    page = ROOT / "docs" / "games" / f"{name.partition('-')[0]}.md"
    written = page.read_text(encoding="utf-8")
    assert load(ROOT / "docs" / "tables.py").page(name) == written, "run: python docs/tables.py"


def anchors(path):
    """Return the anchors of a document as git hosts make them, and MkDocs with pymdownx.slugs."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_links_hold_on_a_git_host():
    for path in DOCUMENTS:
        if "study" in path.parts:  # parts of a study are made one by one, and link to each other
            continue
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for url in re.findall(r"\]\(([^()\s]+)\)", text):
            target, _, anchor = url.partition("#")
            if "://" in url:
                continue
            file = (path.parent / target).resolve() if target else path
            assert file.exists(), f"{path}: {url}"
            assert not anchor or anchor in anchors(file), f"{path}: {url}"


@pytest.mark.skipif(any(importlib.util.find_spec(name) is None for name in NEEDED), reason="needs the extra docs")
def test_the_site_builds_and_needs_no_network(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//', text), page
        assert not re.search(r'<link[^>]*rel="(?:stylesheet|preconnect)"[^>]*href="(?:https?:)?//', text), page

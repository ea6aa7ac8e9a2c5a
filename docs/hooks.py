"""What MkDocs can't do by itself: pages from files beside docs/, links to the sources, a navigation of what is there.

Documents are read on git hosts too, so a link goes to a file as it lies in the repository. In the site a link to one of
PAGES goes to its page; one to any other file of the repository becomes its text, and is a warning if there is no such file.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PAGES = {  # file of the repository: page of the site, title
    "benchmarks/NOTES.md": ("project/benchmarks.md", "Speed notes"),
    "training/NOTES.md": ("project/training-notes.md", "Training notes"),
    "CHANGELOG.md": ("project/changelog.md", "Changelog"),
    "CONTRIBUTING.md": ("project/contributing.md", "Contributing"),
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)
log = logging.getLogger("mkdocs.hooks.stinglab")


def outside_pages() -> dict[str, tuple[str, str]]:
    """Return the files beside docs/ that are pages of the site: page and title by file."""
    cards = {
        card.relative_to(ROOT).as_posix(): (
            f"project/card-{card.parent.parent.name}-{card.parent.name}.md",
            f"Model card: {card.parent.parent.name} {card.parent.name}",
        )
        for card in sorted(ROOT.glob("agents/weights/*/*/MODEL_CARD.md"))
    }
    return PAGES | cards


def on_config(config: Any) -> Any:
    """Add to the navigation what is not known beforehand."""
    sections = {title: entries for item in config.nav for title, entries in item.items() if isinstance(entries, list)}
    docs = Path(config.docs_dir)
    sections["Studies"] += [page.relative_to(docs).as_posix() for page in sorted(docs.glob("study/*.md"))]
    for folder in sorted(docs.glob("study/*/")):
        pages = [page.relative_to(docs).as_posix() for page in sorted(folder.glob("*.md"))]
        if pages:
            sections["Studies"].append({folder.name: pages})
    if (docs / "leaderboard.md").exists():
        sections["Studies"].append("leaderboard.md")
    sections["Project"] += [{title: page} for page, title in outside_pages().values()]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the files beside docs/ that are pages."""
    for source, (page, _) in outside_pages().items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=relink(text, source, page)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Turn links that leave docs/ into links within the site."""
    if page.file.generated_by is not None:
        return markdown
    return relink(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)


def relink(text: str, source: str, page: str) -> str:
    """Return a document with its links as the site needs them. source: its path in the repository; page: in the site."""
    known = {name: target for name, (target, _) in outside_pages().items()}

    def link(match: re.Match[str]) -> str:
        image, words, url = match.groups()
        target, hash_, anchor = url.partition("#")
        if "://" in url or url.startswith("mailto:") or not target:
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        inside = path.removeprefix("docs/") if path.startswith("docs/") else known.get(path)
        if inside is not None and path.startswith("docs/study/") and not (ROOT / path).exists():
            log.info(f"{source}: {path} is not made yet")  # parts of a study are made one by one
            return words
        if inside is not None:
            return f"{image}[{words}]({posixpath.relpath(inside, posixpath.dirname(page) or '.')}{hash_}{anchor})"
        if not (ROOT / path).exists():
            log.warning(f"{source}: there is no {path}, to which it links")
        return words

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)

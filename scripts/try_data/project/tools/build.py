"""Put the pages that site/manifest.txt lists into out/site.html."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    listed = (ROOT / "site" / "manifest.txt").read_text(encoding="utf-8").split()
    for page in sorted((ROOT / "site" / "pages").glob("*.md")):
        if page.name not in listed:
            print("build: error: a page is missing from site/manifest.txt")
            print(f"  {page.name} has no line there")
            return 1
    if listed != sorted(listed):
        print("build: error: the lines of site/manifest.txt must be in alphabetical order")
        return 1
    texts = [(ROOT / "site" / "pages" / name).read_text(encoding="utf-8") for name in listed]
    (ROOT / "out").mkdir(exist_ok=True)
    (ROOT / "out" / "site.html").write_text("<hr>\n".join(texts), encoding="utf-8")
    print(f"build: wrote out/site.html, {len(listed)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())

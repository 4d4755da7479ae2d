"""Parses llms.txt files with the reference parser of llmstxt.org.

Reads a JSON array of texts, writes a JSON array of what they hold.
"""

import json
import sys

from llms_txt import parse_llms_file


def plain(text):
    file = parse_llms_file(text)
    sections = [
        {"name": name, "links": [{"name": l["title"], "url": l["url"], "notes": l.get("desc") or ""} for l in links]}
        for name, links in file["sections"].items()
    ]
    return {"title": file["title"], "summary": file["summary"] or "", "details": (file["info"] or "").strip(), "sections": sections}


json.dump([plain(text) for text in json.load(sys.stdin)], sys.stdout)

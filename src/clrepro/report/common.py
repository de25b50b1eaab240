"""What all reports share: the columns of a table's long form, and the look of a page."""

import html

COLUMNS = [
    "row",
    "column",
    "metric",
    "published",
    "ours",
    "ours_std",
    "seeds",
    "difference",
    "verdict",
    "note",
]
STYLE = """body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:84rem;padding:0 1rem;color:#1a1a1a}
h1{font-size:1.25rem;line-height:1.35}figure{margin:0}figcaption,p,li{max-width:60rem}
table{border-collapse:collapse;font-size:.9rem}
th,td{padding:.3rem .45rem;white-space:nowrap;border-bottom:1px solid #ddd;text-align:right}
th:first-child,td:first-child{text-align:left}
thead tr:last-child th{border-bottom:2px solid #444}th[colspan]{text-align:center}
table:has(code) th,td:has(code){text-align:left}td:has(code){white-space:normal;max-width:30rem}
table+table{margin-top:1.5rem}
td span{color:#555;font-size:.85em}td small{color:#666;display:block}td.hole{color:#767676}"""


def document(title: str, body: str) -> str:
    """A page of its own; the title is text, the body is HTML."""
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
    return f"{head}<style>{STYLE}</style><figure>{body}</figure></html>\n"

"""The report's small drawings as inline SVG: stacked bars, intervals, shares. The style sheet has their colours."""

from markupsafe import Markup, escape

WIDTH, HEIGHT = 132, 22
EDGE = 6


def bar(counts: dict[str, int], kinds: dict[str, str]) -> Markup:
    """A stacked bar of counts, each part at least visible; numbers and words stand beside it, so it is decoration.

    kinds: {verdict: class}, in the order in which the parts are drawn.
    """
    shown = [(verdict, counts[verdict]) for verdict in kinds if counts.get(verdict)]
    total = sum(count for _, count in shown)
    widths = [max(1000 * count / total, 8) for _, count in shown]
    factor = 1000 / sum(widths) if widths else 1
    parts, left = [], 0.0
    for (verdict, _), width in zip(shown, widths, strict=True):
        parts.append(
            f'<rect class="f-{escape(kinds[verdict])}" x="{left:.1f}" width="{width * factor:.1f}" height="10"/>'
        )
        left += width * factor
    body = "".join(parts)
    return Markup(f'<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">{body}</svg>')


def interval(
    estimate: float | None,
    low: float | None,
    high: float | None,
    bounds: tuple[float | None, float | None],
    kind: str,
    published: float | None = None,
) -> Markup:
    """An estimate (dot), its interval (line), the bounds that it has to pass (dashed), what is published (diamond)."""
    values = [value for value in (estimate, low, high, *bounds, published) if value is not None]
    if estimate is None:
        return Markup("")
    start, stop = min(values), max(values)
    room = (stop - start) or abs(start) or 1.0

    def x(value: float) -> str:
        return f"{EDGE + (WIDTH - 2 * EDGE) * (value - start + 0.04 * room) / (1.08 * room):.1f}"

    middle = HEIGHT / 2
    parts = [f'<line class="axis" x1="0" x2="{WIDTH}" y1="{middle}" y2="{middle}"/>']
    parts += [
        f'<line class="bound" x1="{x(value)}" x2="{x(value)}" y1="1" y2="{HEIGHT - 1}"/>'
        for value in bounds
        if value is not None
    ]
    if low is not None and high is not None:
        parts.append(f'<line class="ci s-{kind}" x1="{x(low)}" x2="{x(high)}" y1="{middle}" y2="{middle}"/>')
        parts += [
            f'<line class="cap s-{kind}" x1="{x(value)}" x2="{x(value)}" y1="{middle - 4}" y2="{middle + 4}"/>'
            for value in (low, high)
        ]
    if published is not None:
        parts.append(f'<path class="printed" d="M{x(published)} {middle - 5}l4 5l-4 5l-4 -5z"/>')
    parts.append(f'<circle class="f-{kind}" cx="{x(estimate)}" cy="{middle}" r="4"/>')
    return Markup(
        f'<svg class="interval" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def share(part: float, whole: float) -> Markup:
    """A bar that fills part of whole."""
    width = 100 * part / whole if whole else 0
    return Markup(
        '<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="f-plain" width="{width:.1f}" height="8"/></svg>'
    )

"""A long text as HTML: its topics, their places in the text, their results, a small map."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pages.parts.common.markup import action, attributes, document_link, name, text, took
from pages.parts.library.source_tables import with_meter
from pages.parts.search.answer_html import quick
from pages.parts.search.cards import coverage, open_link
from pages.parts.search.passages import excerpt_html
from pages.parts.search.trace_view import trace_view
from ragkit.answers import Source
from ragkit.catalog.records import DocumentRecord
from ragkit.formatting import plural
from ragkit.indexing.progress import Progress
from ragkit.results import Result
from ragkit.retrieval.highlight import highlight_question
from ragkit.retrieval.multi_query import ChunkedAnswer, ChunkedResult, TopicAnswer
from ragkit.retrieval.query_segmentation.topics import Topic

COLOURS = 8
LONGEST_SHOWN = 100_000
_TITLE = 60


def key_of(value: str) -> str:
    """Return the key of a long text."""
    return hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=16).hexdigest()


def naming_line(progress: Progress) -> str:
    """Return how far the naming of topics is, with a meter."""
    counted = f": {progress.done} of {progress.total}" if progress.total else ""
    return with_meter([f"<b>Naming topics{counted}</b>"], "Naming topics", progress)


def colour(topic: int) -> str:
    """Return the class of a topic's colour; colours repeat after ``COLOURS``."""
    return f"rk-topic-{topic % COLOURS}"


def topic_list(answer: ChunkedAnswer, chosen: int | None) -> str:
    """Return a line for each topic, which chooses it, with how many results it has."""
    results = Counter(number for result in answer.results for number in result.topics)
    items = "".join(
        _topic(of_topic, results[of_topic.topic.index], of_topic.topic.index == chosen)
        for of_topic in answer.topics
    )
    return f'<ul class="rk-topics" aria-label="Topics">{items}</ul>'


def _topic(answer: TopicAnswer, results: int, pressed: bool) -> str:
    number = answer.topic.index
    data = attributes(data_rk="topic", data_number=number, aria_pressed=str(pressed).lower())
    count = "nothing fits" if answer.weak or not results else plural(results, "result")
    return (
        f'<li><button type="button" class="rk-topic {colour(number)}"{data}>{dot(number)}'
        f"<bdi>{name(answer.topic.name)}</bdi>"
        f'<span class="rk-soft">{count}</span></button></li>'
    )


def dot(topic: int) -> str:
    """Return a topic's number in its colour."""
    return f'<span class="rk-dot {colour(topic)}" title="Topic {topic + 1}">{topic + 1}</span>'


def dot_button(topic: Topic) -> str:
    """Return a topic's number in its colour, which chooses it."""
    title = f"Topic {topic.index + 1}: {topic.name}"
    data = attributes(
        data_rk="topic", data_number=topic.index, data_choose="", title=title, aria_label=title
    )
    return (
        f'<button type="button" class="rk-dot {colour(topic.index)}"{data}>{topic.index + 1}'
        "</button>"
    )


def dots(topics: Sequence[Topic]) -> str:
    """Return the topics that found a result."""
    if not topics:
        return '<span class="rk-soft">Found by the whole text</span>'
    label = f"Found by {plural(len(topics), 'topic')}"
    inner = "".join(map(dot_button, topics))
    return f'<span class="rk-dots" role="group" aria-label="{label}">{inner}</span>'


def coloured(
    value: str, topics: Sequence[TopicAnswer], chosen: int | None, answers: Sequence[Source] = ()
) -> str:
    """Return the text with each topic's span in its colour, headed by a button that chooses it.

    ``answers`` are shown under the questions that they answer. The text is only ever text.
    """
    parts, position = [], 0
    stop = min(len(value), LONGEST_SHOWN)
    for answer in topics:
        topic = answer.topic
        start, end = min(topic.start, stop), min(topic.end, stop)
        if start >= end:
            continue
        mark = " rk-chosen" if topic.index == chosen else ""
        link = attributes(
            data_rk="topic", data_number=topic.index, aria_pressed=str(bool(mark)).lower()
        )
        parts += [
            text(value[position:start].strip()),
            f'<div class="rk-span {colour(topic.index)}{mark}" id="rk-span-{topic.index}">'
            f'<button type="button" class="rk-span-head"{link}>{dot(topic.index)}'
            f"<bdi>{name(topic.name)}</bdi></button>",
            text(value[start:end].strip()),
            _answered(topic, answers),
            "</div>",
        ]
        position = end
    parts.append(text(value[position:stop].strip()))
    more = '<p class="rk-soft">… The rest is searched too, but not shown.</p>' * (len(value) > stop)
    return (
        '<div class="rk-long-text" tabindex="0" role="region" aria-label="The text and its topics" '
        f'dir="auto">{"".join(parts)}{more}</div>'
    )


def _answered(topic: Topic, answers: Sequence[Source]) -> str:
    """Return the sentences that answer a topic's question."""
    asked = {segment.text for segment in topic.segments}
    own = [replace(source, question="") for source in answers if source.question in asked]
    return quick(own, "\n".join(asked), label=f"Answer to topic {topic.index + 1}")


def summary(answer: ChunkedAnswer) -> str:
    """Return ``7 segments → 35 hits → 12 documents → 5 shown``."""
    return (
        '<div class="rk-summary"><details class="rk-trace"><summary><span class="rk-counts" '
        'role="status" title="Each segment of the text is searched separately; the best documents '
        f'of every topic are shown.">{text(answer.summary)} · {took(answer.trace.ms)}</span> · '
        f'<span class="rk-ask">Details</span></summary>{trace_view(answer.trace)}</details></div>'
    )


def matrix(answer: ChunkedAnswer) -> str:
    """Return a map of which topic found which of the results, and how well, with its key."""
    if len(answer.topics) < 2 or not answer.results:
        return ""
    scores = [dict(topic.documents) for topic in answer.topics]
    best = max((score for row in scores for score in row.values()), default=0.0) or 1.0
    head = "".join(f'<th scope="col">{dot_button(topic.topic)}</th>' for topic in answer.topics)
    rows = {result.result.document.id: result.result for result in answer.results}
    body = "".join(_row(result, scores, best) for result in rows.values())
    key = "".join(f'<i style="opacity:{strength}"></i>' for strength in (0.35, 0.6, 1.0))
    return (
        '<details class="rk-map"><summary>Which topic found which document</summary>'
        f'<p class="rk-soft rk-map-key">Found by a topic: weaker {key} stronger. '
        "Numbers are those of the topics; an empty cell means not found.</p>"
        '<div class="rk-wide" tabindex="0" role="region" aria-label="Topics and documents">'
        '<table class="rk-matrix"><thead><tr><th scope="col">Document</th>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


def _row(result: Result, scores: Sequence[Mapping[int, float]], best: float) -> str:
    document = result.document
    cells = []
    for number, by_document in enumerate(scores):
        score = by_document.get(document.id)
        if score is None:
            cells.append(f'<td aria-label="topic {number + 1}: not found"></td>')
            continue
        label = f"topic {number + 1}: {score:.2f}"
        strength = round(0.35 + 0.65 * max(0.0, score) / best, 2)
        cells.append(
            f'<td class="{colour(number)}" title="{label}" aria-label="{label}">'
            f'<i style="opacity:{strength}"></i></td>'
        )
    title = name((document.title or document.path)[:_TITLE])
    return f'<tr><th scope="row"><bdi>{title}</bdi></th>{"".join(cells)}</tr>'


def compact_card(chunked: ChunkedResult, number: int, topics: Sequence[TopicAnswer]) -> str:
    """Return one result, short, with the topics that found it."""
    result = chunked.result
    document = result.document
    facts = [f'<span class="rk-path"><bdi>{name(document.path)}</bdi></span>']
    if document.date:
        facts.append(f"<span>{name(document.date[:10])}</span>")
    found_by = [topics[at].topic for at in chunked.topics]
    question = " ".join(topic.name for topic in found_by)
    return (
        f'<article class="rk-card rk-compact" id="rk-result-{number}"'
        f"{attributes(data_document=document.id, data_path=document.path)}>"
        f'<header class="rk-card-head"><h2 class="rk-title">{open_link(result, question)}</h2>'
        f'<span class="rk-score" title="How well the best passage fits">{result.score:.2f}</span>'
        f'</header><p class="rk-where">{" · ".join(facts)}</p>'
        f'<div class="rk-cover">{dots(found_by)}{coverage(result)}</div>'
        f"{excerpt_html(_marked(result, question), question)}</article>"
    )


def _marked(result: Result, words: str) -> Result:
    """Return a result with only these words highlighted, not all that a long text has in it."""
    passages = tuple(
        replace(passage, highlights=highlight_question(passage.text, words, result.forms))
        for passage in result.passages
    )
    return replace(result, passages=passages)


def topic_results(answer: TopicAnswer, records: Mapping[int, DocumentRecord]) -> str:
    """Return the results of a topic by itself."""
    number = answer.topic.index
    items = "".join(
        f"<li>{document_link(document, None, '', title, class_='rk-link')} "
        f'<span class="rk-number"><b>{score:.2f}</b></span> '
        f'<span class="rk-soft"><bdi>{name(record.path)}</bdi></span></li>'
        for document, score in answer.documents
        if (record := records.get(document)) is not None
        for title in [f"<bdi>{name(record.title or record.path)}</bdi>"]
    )
    body = '<p class="rk-soft">Nothing fits this topic. The nearest:</p>' * answer.weak
    body += f"<ol>{items}</ol>" if items else '<p class="rk-soft">Nothing was found.</p>'
    back = action("topic", "Show all topics", data_number="")
    return (
        f'<section class="rk-notice rk-of-topic {colour(number)}" aria-label="Results for topic '
        f'{number + 1}"><p>{dot(number)} <bdi>{name(answer.topic.name)}</bdi></p>{body}{back}'
        "</section>"
    )

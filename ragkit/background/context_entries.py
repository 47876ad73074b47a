"""From what was written about chunks to what the catalog and the indexes hold of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ragkit.catalog.records import ChunkRecord, ContextAnswer, ContextDraft, EntryDraft
from ragkit.chunking.embedding_texts import text_hash
from ragkit.chunking.structural_context import contextualised
from ragkit.indexes.tokenizer import index_tokens
from ragkit.indexing.writer import Writer
from ragkit.models.context_types import WrittenContext
from ragkit.types import FIELD_CODES, LEVEL_CODES, Field, Level


@dataclass(frozen=True, slots=True)
class Finished:
    """A chunk whose context is there, waiting to be indexed. ``text`` is its own."""

    document_id: int
    document_hash: str
    record: ChunkRecord
    text: str
    answer: ContextAnswer


def answer_of(written: WrittenContext, model: str, prompt_hash: str) -> ContextAnswer:
    """What a model wrote, as it is kept."""
    details = {} if written.details is None else asdict(written.details)
    if written.topic_summary:
        details["topic_summary"] = written.topic_summary
    return ContextAnswer(
        context=written.context,
        keywords=written.keywords,
        questions=written.questions,
        details={name: list(v) if isinstance(v, tuple) else v for name, v in details.items()},
        model=model,
        prompt_hash=prompt_hash,
        tokens=written.tokens,
        seconds=written.seconds,
        truncated=written.truncated,
    )


def context_text(answer: ContextAnswer, record: ChunkRecord) -> str:
    """What is embedded of a model context: where its chunk stands, the context, the keywords.

    The chunk's own text has a vector of its own, in which a few more words would be lost.
    """
    return contextualised(record.context, "\n".join([answer.context, ", ".join(answer.keywords)]))


def question_text(question: str, record: ChunkRecord) -> str:
    """What is embedded of a question: it is asked of what stands there."""
    return contextualised(record.context, question)


def drafts_of(writer: Writer, finished: Sequence[Finished]) -> list[ContextDraft]:
    """Everything to be written for those chunks. Only texts without a vector are embedded."""
    texts = [context_texts(one.answer, one.record) for one in finished]
    names = {text: text_hash(text) for group in texts for _, text in group}
    known = writer.catalog.vectors.existing(names.values(), writer.embedder_id)
    missing = [
        text
        for text, name in names.items()
        if name not in known and not writer.embeds_in_background
    ]
    vectors: dict[bytes, bytes] = {}
    if missing:
        made = writer.embedder.embed_passages(missing).astype("<f2")
        vectors = {names[text]: made[row].tobytes() for row, text in enumerate(missing)}
    return [
        ContextDraft(
            document_id=one.document_id,
            document_hash=one.document_hash,
            chunk=one.record.chunk,
            answer=one.answer,
            tokens=_tokens(one.answer),
            entries=tuple(
                EntryDraft(LEVEL_CODES[level], one.record.chunk.index, names[text], b"", {})
                for level, text in group
            ),
            vectors={name: vectors[name] for _, text in group if (name := names[text]) in vectors},
        )
        for one, group in zip(finished, texts, strict=True)
    ]


def context_texts(answer: ContextAnswer, record: ChunkRecord) -> list[tuple[Level, str]]:
    """The texts that get a vector of their own, by level."""
    found: list[tuple[Level, str]] = []
    if answer.context:
        found.append((Level.CONTEXT, context_text(answer, record)))
    asked = dict.fromkeys(answer.questions)
    found += [(Level.QUESTION, question_text(question, record)) for question in asked]
    return found


def _tokens(answer: ContextAnswer) -> dict[int, list[str]]:
    return {
        FIELD_CODES[Field.CONTEXT]: index_tokens(answer.context),
        FIELD_CODES[Field.KEYWORDS]: index_tokens("\n".join(answer.keywords)),
        FIELD_CODES[Field.QUESTIONS]: index_tokens("\n".join(answer.questions)),
    }

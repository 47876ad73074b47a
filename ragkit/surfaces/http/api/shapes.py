"""The members of the API's JSON objects, for OpenAPI: each with its type, and "?" if nullable."""

from __future__ import annotations

ANSWER = {
    "query": "string", "results": "array", "notices": "array", "total_documents": "integer",
    "nothing_close": "boolean", "missing_terms": "array", "suggestion": "string",
    "corrected": "string", "spelled": "array", "phrasings": "object?", "questions": "integer",
    "listed": "boolean", "readings": "array", "trace": "object",
}  # fmt: skip
LONG_ANSWER = {
    "topics": "array", "results": "array", "metrics": "object", "notices": "array",
    "trace": "object",
}  # fmt: skip
DOCUMENT = {
    "id": "integer", "path": "string", "status": "string", "reason": "string", "chunks": "integer",
    "title": "string", "collection": "string", "source": "string", "format": "string",
    "bytes": "integer", "warnings": "array", "date": "string", "metadata": "object",
    "characters": "integer", "outcomes": "array", "passages": "array",
}  # fmt: skip
PASSAGE = {
    "start": "integer", "end": "integer", "text": "string", "page": "integer?",
    "heading_path": "array", "highlights": "array", "chunks": "array", "cut": "boolean",
    "shortens": "array?",
}  # fmt: skip
COLLECTION = {
    "name": "string", "documents": "integer", "indexed": "integer", "chunks": "integer",
    "settings": "object",
}  # fmt: skip
JOB = {
    "id": "integer", "kind": "string", "arguments": "object", "state": "string",
    "progress": "object", "message": "string", "cancelled": "boolean", "attempts": "integer",
    "created_at": "number", "started_at": "number?", "finished_at": "number?",
}  # fmt: skip
JUDGMENT = {
    "id": "integer", "question": "string", "document": "integer", "path": "string",
    "grade": "integer", "span": "object?",
}  # fmt: skip
STATUS = {
    "library": "string", "server": "string", "documents": "integer", "indexed": "integer",
    "pending": "integer", "skipped": "integer", "failed": "integer", "chunks": "integer",
    "collections": "array", "sources": "array", "contexts": "object", "writing": "boolean",
}  # fmt: skip

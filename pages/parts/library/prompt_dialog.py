"""The prompts of a collection on the Library page: what a model is asked for its contexts."""

from __future__ import annotations

import streamlit as st

from pages.parts.common import dialog, frame, markup
from pages.parts.common.markup import number, text
from ragkit.catalog.background_state import BackfillState
from ragkit.errors import RagkitError
from ragkit.formatting import duration, plural
from ragkit.library import Library
from ragkit.models.context_prompt import Prompt, PromptKind, placeholders

PROMPTS = "context-prompts"
_LABELS: dict[PromptKind, str] = {
    "document": "Documents",
    "conversation": "Conversations",
    "summary": "Long documents",
    "questions": "Questions",
}
_ABOUT: dict[PromptKind, str] = {
    "document": "Asks for the context of a chunk of a document.",
    "conversation": "Asks for the context of a part of a conversation.",
    "summary": "Asks for the summary of a document that is too long to be shown as a whole.",
    "questions": "Asks for the questions of a question set (Evaluate page).",
}
_KIND, _REWRITE = "prompt-kind", "prompt-rewrite"


@dialog.titled(PROMPTS, "Context prompts", width="medium")
def draw(library: Library, collection: str) -> None:
    """Let a person read and replace the prompts of a collection."""
    if library.collections.find(collection) is None:
        dialog.close()
        return
    prompts = library.contexts.prompts(collection)
    kind: PromptKind = st.segmented_control(
        "Prompt for", list(_LABELS), format_func=_LABELS.__getitem__, default="document",
        required=True, key=_KIND,
    )  # fmt: skip
    st.html(_about(collection, kind, prompts[kind]))
    # With another text, the box would keep what was typed before.
    key = f"prompt-{kind}-{prompts[kind].hash}"
    typed = st.text_area("Prompt", prompts[kind].text, height=320, max_chars=20_000, key=key) or ""
    # Places of their own: else the buttons below would move, and stand there twice for a moment.
    notice, choice = st.empty(), st.empty()
    try:
        outdated, problem = library.contexts.outdated(collection, kind, typed), ""
    except RagkitError as error:
        outdated, problem = 0, str(error)
        notice.html(markup.notices([problem]))
    rewrite = bool(outdated) and choice.checkbox(
        f"Rewrite {plural(outdated, 'context')} written with another prompt",
        key=_REWRITE,
        help=_estimate(library.contexts.status(collection), outdated),
    )

    def save() -> None:
        try:
            library.contexts.set_prompt(collection, kind, st.session_state[key] or "")
        except RagkitError:
            return  # it is said beside the box, for as long as it holds
        if rewrite:
            library.contexts.rewrite(collection, kind)
            library.worker.ensure_running()
        dialog.close()

    with st.container(horizontal=True):
        st.button("Save", type="primary", key="prompt-save", disabled=bool(problem),
                  on_click=save)  # fmt: skip
        st.button(
            "Use the built-in prompt", key="prompt-reset", disabled=not prompts[kind].own,
            on_click=frame.click(library.contexts.set_prompt), args=(collection, kind, ""),
        )  # fmt: skip
        st.button("Cancel", key="prompt-cancel", on_click=dialog.close)


def _about(collection: str, kind: PromptKind, prompt: Prompt) -> str:
    """Return a prompt's purpose and the placeholders it must contain, as HTML."""
    needed, others = (
        ", ".join(f"<code>{text(name)}</code>" for name in names) for names in placeholders(kind)
    )
    which = "Your own prompt" if prompt.own else "The built-in prompt"
    return (
        f"<p>{_ABOUT[kind]} <b>{which}</b> is used in the collection "
        f"<bdi>{markup.name(collection)}</bdi>.</p>"
        f'<p class="rk-soft">{needed} must occur in it; {others} may. What is above the line '
        "<code>=====</code> are the instructions, below it is the request.</p>"
    )


def _estimate(state: BackfillState, count: int) -> str:
    """Estimate the time and tokens to rewrite so many contexts, from those that are written."""
    if not state.tokens_each or not state.per_minute:
        return "How long it takes depends on the machine and the model."
    tokens, seconds = count * state.tokens_each, count * 60.0 / state.per_minute
    return f"About {number(round(tokens))} tokens and {duration(seconds)}, judging by the others."

from __future__ import annotations

import pytest

from ragkit.retrieval.index_weights import holds_identifier


@pytest.mark.parametrize(
    "question",
    [
        "use st.cache_data",
        "what sets _private and __init__",
        "MAX_RETRIES exceeded",
        "where is getTarget called",
        "redBackgroundColor",
        "the StdMapObserver",
        "How do I create a HashBuilder?",
        "a new DiffExecutor instance",
        "os.path",
        "java.util.List",
        "what does main() do",
        "what is `streamlit` for",
        "std::vector",
        "upgrade to v2.0",
        "between 6.15.0 and 6.14.0?",
        "2022.1.0 broke it",
        "ERR-1234",
        "E11000 from the server",
        "CVE-2021-44228",
        "0x80070005",
        "who reads requirements.txt",
        "src/app/main.py",
        "what is in /etc/hosts",
        "C:\\Temp is full",
        "run it with --no-browser",
    ],
)
def test_names_of_code_paths_versions_and_codes_are_identifiers(question: str):
    assert holds_identifier(question)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "How does caching work?",
        "What was PayPal's revenue in FY2022 and in Q2?",
        "in 2024 we, FY-2024, the 1960s, on 31.12.2022 or 2022.12.31",
        "e.g. i.e. U.S. p.m. Ph.D. N.A.",
        "iPhone McDonald's YouTube PostgreSQL GitHub macOS eBay",
        "the McDonald's of the U.S., what YouTube paid PayPal",
        "mRNA ALDH1 miRNA CX3CR1 IgA p53 clpC B12 COVID-19 SARS-CoV-2 GPT-4",
        "rose 2.5 % to 1,234.5, from 5mmol/L and/or I/O 24/7",
        "The end.Next sentence, thanks.how are you",
        "write to Amazon.com, example.org or jane@example.org",
        "well-known -- or 4K screens; 401k? the 10-K",
        "Sign here: ______ / ____",
        "What did BlackRock, AstraZeneca and JPMorgan Inc. say",
    ],
)
def test_names_of_prose_years_and_abbreviations_are_none(question: str):
    assert not holds_identifier(question)

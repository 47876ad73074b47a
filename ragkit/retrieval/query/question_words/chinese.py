"""What questions in Chinese are known by."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

CHINESE = Language(
    codes=("zh",),
    meanings=r"""
X(是(什么|什麼|甚麼|啥|谁|誰)|(什么|什麼)意思|的(意思|含义|含義|定义|定義)).{0,20}
(什么|什麼|甚麼)(是|叫)X
""",
    # In simplified characters; questions are compared in these.
    asking_words="""
请问一下 请问 请告诉我 告诉我 我想知道 想知道 我想了解一下 我想了解 想了解一下 想了解 我想 我要
我该 我们 你们 能不能 可不可以 是不是 有没有 会不会 要不要 能否 可否 是否 可以 应该 应当
什么样的 什么样 什么地方 干什么 为什么 什么 甚么 怎么样 怎么办 怎么 怎样 如何 为何 为啥 啥 哪里
哪儿 哪个 哪些 哪种 哪位 多少 多久 几个 谁 关于 有关 对于 的方法 的办法 的步骤 方法(?![论学])
办法
""",
    asking_pattern=(
        r"(?:应?该)?[是有在]?(?:{words})(?:是(?![非否])|才能|(?:才对|[用做弄搞的])(?=\W|$))?"
        r"|[吗呢](?=\W|$)"
    ),
    asks_amount=r"""
[几幾]|多少|多久|多大
""",
    asks_time=r"""
什[么麼][时時]候|何[时時]
""",
    asks_who=r"""
谁|誰
""",
    asks_yes_no=r"""
.*[吗嗎][?？]?$
""",
)

"""Words that only ask, in languages other than English; ``openings`` has phrases that do.

In Chinese, Japanese and Korean few words are dropped from indexes, since words have no bounds
there. In a question, the pairs of what only asks would outweigh those of what is asked for.
"""

from __future__ import annotations

import re
from functools import cache

from ragkit.indexes.tokenizer import query_tokens
from ragkit.retrieval.query.han_variants import writings
from ragkit.retrieval.query.meanings import without_foreign_asking

_KANA = re.compile("[\u3041-\u30fa]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
# Simplified. None of them is a part of other words where it may stand.
_CHINESE = """
请问一下 请问 请告诉我 告诉我 我想知道 想知道 我想了解一下 我想了解 想了解一下 想了解 我想 我要
我该 我们 你们 能不能 可不可以 是不是 有没有 会不会 要不要 能否 可否 是否 可以 应该 应当
什么样的 什么样 什么地方 干什么 为什么 什么 甚么 怎么样 怎么办 怎么 怎样 如何 为何 为啥 啥 哪里
哪儿 哪个 哪些 哪种 哪位 多少 多久 几个 谁 关于 有关 对于 的方法 的办法 的步骤 方法(?![论学])
办法
"""
_CHINESE_QUESTION = (
    r"(?:应?该)?[是有在]?(?:{words})(?:是(?![非否])|才能|(?:才对|[用做弄搞的])(?=\W|$))?"
    r"|[吗呢](?=\W|$)"
)
_JAPANESE = """
どうすれば どうしたら どうやって どうやれば どうして どうなって どうなる どのように どのような
どのぐらい どのくらい どれくらい どんな どこ どちら どれ どの なぜ 何故 なんで(?!も) いつ(?![もか])
だれ 誰 いくつ 教えて おしえて 知りたい 調べたい ください 下さい お願いし お願い について
に関して に関する できません できない できます できる やり方 仕方 使い方 方法(?!論)
やりかた しかた(?!な) つかいかた 使いかた すみません(?!で) すいません(?!で)
(?:何|なに|なん|いくら|どう)(?=です|でしょう|か|が|を|[?？]|$)
(?:説明して|見せて|聞かせて)(?=ください|下さい|ほしい|欲しい|もらえ|くれ|いただけ|頂け|[?？。]|$)
(?:(?:わか|分か)(?:らない|りません))(?=です|ん|の|が|けど|けれど|[?？!！。、…]|$)
"""
# Steps, information and what is not found may be what is asked for, unless they stand at the end.
_JAPANESE_END = r"(?:です|の|ん|が|けど|けれど|は|に)*(?=[?？!！。、…\s]*+$)"
_JAPANESE_CLOSINGS = (
    r"[をが]?(?:し|行い|おこない|やり)たい(?:場合|とき|時|と思)?",
    r"を?(?:する|行う|おこなう|やる)(?:に|とき|時|場合)は",
    r"(?:の|(?<=[るた]))手順",
    r"(?:(?<=に関する)|(?<=に関しての)|(?<=についての))(?:詳しい)?(?:情報|説明|資料|詳細)"
    r"(?:[がを](?:欲しい|ほしい|探してい(?:る|ます)))?",
    r"の(?:情報|説明|資料|詳細)[がを](?:欲しい|ほしい)",
    r"[をがに]?(?:探し|困っ)てい?(?:る|ます)",
    r"[がは]?(?:どこにも)?(?:見つから|見つけられ|見当たら)ない",
    r"(?:こと)?[はが]可能(?:です|でしょう)か",
)
_JAPANESE_QUESTION = (
    r"(?:を?(?:する|行う|おこなう|やる)(?:に|ため|ために|とき|時|場合)は|(?:する)?こと[はが]"
    r"|では|には|とは|って|[はがをのにでと])?(?:(?:{words})(?:ありますか|あります|ありません"
    r"|ある|いますか|います|するの|しますか|します|すれば|ますか|ます|いいのか|いい|よい|良い|のか"
    r"|ほしい|欲しい|(?:もらえ|くれ|いただけ|頂け)(?:ます|ません|る|ない)?|けれど|けど"
    r"|です|でしょう|だろう|なの|から|か|の|ん|ね|よ|[はがをに]|で(?![きも]))*)+"
    r"|(?:するの|しますか|ますか|(?:なの|の|ん)?(?:です|でしょう|だろう)か?)(?=[?？。]|\s*$)"
    r"|(?:の|(?<=[るた]))手順[はをが](?=教|おしえ|知り|説明|何|なに|どう|ど[のこれ])"
    rf"|(?:{'|'.join(_JAPANESE_CLOSINGS)}){_JAPANESE_END}"
)
_KOREAN = """
어떻게 어디에 어디서 어디에서 어디 왜 무엇 무엇을 뭐 뭘 뭔가요 뭐예요 뭐에요 뭐야 무엇인가요
무엇입니까 언제 누구 누가 얼마나 얼마 몇 어떤 어느 방법 방법을 방법은 사용법 알려 알려줘
알려주세요 가르쳐 주세요 줘 하나요 합니까 해야 하면 하려면 하는 있나요 있을까 있을까요 있습니까
있는지 되나요 됩니까 인가요 입니까 알고 싶어요 싶습니다 싶은데 대해 대해서 대한 관해 관해서 관한
좀
"""
_KOREAN_QUESTION = "(?<![가-힣])(?:{words})(?![가-힣])"


def without_asking_words(question: str) -> str:
    """Return what is to be searched for, without what only asks; the question if nothing is left.

    Whole questions in English come back as they are, since its function words are not indexed.
    """
    text = written = without_foreign_asking(question)
    if _KANA.search(text):
        pattern = _pattern(_JAPANESE, _JAPANESE_QUESTION)
    elif _HANGUL.search(text):
        pattern = _pattern(_KOREAN, _KOREAN_QUESTION)
    elif simplified := writings(text):
        written, pattern = simplified[0], _pattern(_CHINESE, _CHINESE_QUESTION)
    else:
        return text
    kept = list(text)
    for match in pattern.finditer(written):
        kept[match.start() : match.end()] = " " * len(match[0])
    rest = "".join(kept)
    return rest if query_tokens(rest) else text


@cache
def _pattern(words: str, question: str) -> re.Pattern[str]:
    """Return a pattern of what only asks, the longest first."""
    longest_first = sorted(words.split(), key=len, reverse=True)
    return re.compile(question.replace("{words}", "|".join(longest_first)))

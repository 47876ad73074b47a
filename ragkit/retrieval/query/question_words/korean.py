"""What questions in Korean are known by."""

from __future__ import annotations

from ragkit.retrieval.query.question_words.language import Language

KOREAN = Language(
    codes=("ko",),
    meanings=r"""
X(이?란|은|는|이|가)? ?(무엇|뭐|뭔)((이|인|입|일|예|에|야|냐|죠|지|가)[가-힣]{0,4})?
X(이?란|의? ?(뜻|의미|정의)([은는이가] ?(무엇|뭐)[가-힣]{0,5})?)
""",
    asking_words="""
어떻게 어디에 어디서 어디에서 어디 왜 무엇 무엇을 뭐 뭘 뭔가요 뭐예요 뭐에요 뭐야 무엇인가요
무엇입니까 언제 누구 누가 얼마나 얼마 몇 어떤 어느 방법 방법을 방법은 사용법 알려 알려줘
알려주세요 가르쳐 주세요 줘 하나요 합니까 해야 하면 하려면 하는 있나요 있을까 있을까요 있습니까
있는지 되나요 됩니까 인가요 입니까 알고 싶어요 싶습니다 싶은데 대해 대해서 대한 관해 관해서 관한
좀 저는 제가 나는 내가 저의 나의 제 내 우리 저희
""",
    asking_pattern="(?<![가-힣])(?:{words})(?![가-힣])",
    asks_amount=r"""
몇|얼마
""",
    asks_time=r"""
언제
""",
    asks_who=r"""
누가|누구
""",
)
